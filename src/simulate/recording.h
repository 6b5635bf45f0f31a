// SPDX-License-Identifier: Apache-2.0
//
// What the Flight Recorder of one rank holds after a job has run: sequence numbers, record ids, states and
// times by the rules of its backend, in a ring of fixed size.
#pragma once

#include <cstdint>

#include "simulate/job.h"
#include "simulate/plan.h"
#include "simulate/recorded_dump.h"

namespace unhang::simulate {

// The job has run. Uses entries, frames, only_active and timing of the plan.
RecordedDump record(const Job& job, const Plan& plan, std::int32_t rank);

}  // namespace unhang::simulate
