// SPDX-License-Identifier: Apache-2.0
//
// Makes workers write a dump of the Flight Recorder, through the named pipe that PyTorch listens at
// (TORCH_NCCL_DEBUG_INFO_PIPE_FILE) or its HTTP handler. Done only when a person asked for it: it makes the
// job do something, and a dump overwrites the one before it, which is therefore copied first.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "collect/capture.h"
#include "collect/capture_names.h"
#include "collect/flight_recorder_dumps.h"

namespace unhang::collect {

// Copies the dumps that are there, triggers a new one of each worker of `search` that listens, waits for
// them, and copies those too ("flight_recorder_triggered/…"). PyTorch looks at its pipe once a second, or,
// where TORCH_NCCL_DUMP_ON_TIMEOUT is off, only every few minutes: then nothing comes in time, which is said.
CaptureSource triggered_dumps_source(std::string id, DumpSearch search);

struct TriggerEndpoint {
  std::string rank;  // global rank; empty: not known
  std::string url;   // "http://127.0.0.1:25999", as typed
};

// "[RANK=]URL". kUsage where it is none.
base::Result<TriggerEndpoint> parse_trigger_url(const std::string& text);

// The dump as PyTorch's worker server answers it (POST /handler/dump_nccl_trace_pickle, or as JSON).
CaptureSource http_dump_source(std::string id, TriggerEndpoint endpoint);

// "/tmp/nccl_pipe" and 3 -> "/tmp/nccl_pipe3.pipe"
std::string trigger_pipe(const std::string& stem, const std::string& rank);

}  // namespace unhang::collect
