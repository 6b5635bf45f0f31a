// SPDX-License-Identifier: Apache-2.0
//
// The capture of this machine: which processes, which sources, and all of them into one bundle. What
// `unhang capture` and `unhang watch --on-stall capture` call.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "collect/capture.h"
#include "collect/live_sources.h"
#include "collect/nccl_release.h"

namespace unhang::collect {

struct LiveCaptureRequest {
  std::string folder;  // new or empty
  SourceSelection selection;
  std::chrono::nanoseconds budget = std::chrono::seconds(25);
  std::string instance, deployment;
  std::vector<std::pair<std::string, std::string>> labels;
  std::optional<model::BundleCommand> command;  // the capture is about

  // RAS: addresses as typed, each may be a list. None: those that the workers state, else the default.
  bool ras = true;
  std::vector<std::string> ras_addresses;
  std::optional<NcclRelease> nccl_release;

  std::vector<std::string> engines;  // URLs

  // Dumps: of the workers, of the caller's own prefixes, and of these paths.
  bool dumps = true;
  std::vector<std::string> dump_paths;
  bool trigger_dumps = false;             // let the workers write new ones: it makes the job do something
  std::vector<std::string> trigger_urls;  // "[RANK=]URL" of PyTorch's worker servers, asked for a dump

  // Which processes are workers: these, and those whose name or command line has the text; where nothing is
  // given, those that have NCCL or PyTorch's GPU library loaded.
  std::vector<std::int64_t> pids;
  std::string match;

  bool native_stacks = true;  // by gdb, which stops a worker while it looks at it

  int samples = 3;
  std::optional<std::chrono::nanoseconds> interval;  // between them; else by the budget

  std::string tool_version;
  // The caller's: HOME, NCCL_RAS_ADDR … Programs are looked for in its PATH; without one there are none.
  std::vector<std::pair<std::string, std::string>> environment;
  std::string proc = "/proc", sys = "/sys", dev = "/dev";
  std::string account = "/var/run/secrets/kubernetes.io/serviceaccount";  // of a pod
  std::vector<std::string> nvml_words;  // a program that prints what NVML tells; empty: none
  int wake_fd = -1;                     // readable: end early; `stop` must be requested as well
  std::shared_ptr<CaptureStop> stop = std::make_shared<CaptureStop>();
};

// The caller's variables that `environment` should hold, where they are set.
const std::vector<std::string>& capture_variables();

// kUsage for an address that is none or a folder that is not empty; kIo where it cannot be written.
base::Result<CaptureResult> capture_live(const LiveCaptureRequest& request);

}  // namespace unhang::collect
