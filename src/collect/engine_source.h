// SPDX-License-Identifier: Apache-2.0
//
// An inference engine as a source of a capture: its page of metrics several times, and what its health check
// says meanwhile. Pages are kept as they came.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "collect/capture.h"
#include "collect/capture_names.h"
#include "collect/capture_sampling.h"
#include "collect/engine_client.h"

namespace unhang::collect {

// One question, with the health check, that takes at most so long.
using PollEngine = std::function<EngineReply(std::chrono::nanoseconds timeout)>;

// Of a live engine. `wake_fd`: ends a poll when it becomes readable; -1: none.
PollEngine live_engine(EngineEndpoint endpoint, int wake_fd);

// `shown`: its address without secrets.
CaptureSource engine_source(std::string id, const std::string& shown, CaptureSampling sampling,
                            PollEngine poll, std::shared_ptr<CaptureNames> names);

}  // namespace unhang::collect
