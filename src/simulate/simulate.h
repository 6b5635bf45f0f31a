// SPDX-License-Identifier: Apache-2.0
//
// Incidents made to order, with their truth: Flight Recorder dumps and, where asked for, RAS answers, logs
// and kernel logs of the same job. For tests, benchmarks, drills and newcomers.
#pragma once

#include <functional>
#include <string_view>

#include "base/result.h"
#include "simulate/plan.h"
#include "simulate/truth.h"

namespace unhang::simulate {

// Receives one file; an error from it ends the simulation and is handed on.
using WriteFile = std::function<base::Result<>(std::string_view file_name, std::string_view bytes)>;

// Runs the plan's job and writes one dump a rank, in rank order ("nccl_trace_rank_0", with ".json" where
// JSON), then the other evidence that the plan asks for (evidence.h; some names have a folder in front), then
// "truth.json". Dumps are made one by one: memory is that of the job, about 24 bytes a call. A
// plan that makes no sense is a usage error, and nothing has been written then.
base::Result<Truth> simulate(const Plan& plan, const WriteFile& write);

}  // namespace unhang::simulate
