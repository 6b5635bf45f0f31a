// SPDX-License-Identifier: Apache-2.0
//
// Which processes of this machine are the workers of a job, and what of them may be written down.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "model/bundle.h"
#include "os/process_table.h"

namespace unhang::collect {

struct WorkerChoice {
  std::vector<std::int64_t> pids;
  std::string match;  // part of a name or a command line; empty: none
  std::string proc = "/proc";
  std::chrono::steady_clock::time_point end;
};

struct Workers {
  std::vector<os::Process> processes;       // ascending pid; with the variables that dumps and RAS need
  std::vector<os::Process> descendants;     // of them, that are no workers themselves; ascending pid
  std::string own_namespace;                // our mount namespace; empty: not known
  std::vector<model::BundleProcess> facts;  // what a bundle may say of them
  model::SourceStatus status = model::SourceStatus::kFailed;
  std::string reason;
};

Workers find_workers(const WorkerChoice& choice);

}  // namespace unhang::collect
