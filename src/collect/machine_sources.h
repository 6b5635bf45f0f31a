// SPDX-License-Identifier: Apache-2.0
//
// The sources of a capture that tell of this machine rather than of NCCL: which of them are asked, and where.
#pragma once

#include <memory>
#include <vector>

#include "collect/capture.h"
#include "collect/capture_names.h"
#include "collect/capture_sampling.h"
#include "collect/live_capture.h"
#include "collect/others_at_work.h"
#include "collect/worker_processes.h"

namespace unhang::collect {

// `others`: the sources that talk to the job's processes.
std::vector<CaptureSource> machine_sources(const LiveCaptureRequest& request, const Workers& workers,
                                           const CaptureSampling& sampling,
                                           const std::shared_ptr<OthersAtWork>& others,
                                           const std::shared_ptr<CaptureNames>& names);

}  // namespace unhang::collect
