// SPDX-License-Identifier: Apache-2.0
//
// The RAS service behind one address as a source of a capture: polled several times, each report kept as it
// came, also one that breaks off.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "collect/capture.h"
#include "collect/capture_names.h"
#include "collect/capture_sampling.h"
#include "collect/ras_client.h"

namespace unhang::collect {

// One poll that takes at most so long.
using PollRas = std::function<RasPoll(std::chrono::nanoseconds timeout)>;

// Of a live service. `wake_fd`: ends a poll when it becomes readable; -1: none. It never asks what could
// crash the job.
PollRas live_ras(net::HostPort address, RasClientOptions options, int wake_fd);

CaptureSource ras_source(std::string id, const std::string& address, CaptureSampling sampling, PollRas poll,
                         std::shared_ptr<CaptureNames> names);

}  // namespace unhang::collect
