// SPDX-License-Identifier: Apache-2.0
//
// The environment of a running process and of the processes below it, as they were when each was started:
// what a program sets in itself later (os.environ) does not show in /proc.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "checks/environment.h"

namespace unhang::checks {

struct ProcessChoice {
  std::int64_t pid = 0;
  std::string proc = "/proc";
  // A process below that has one of these loaded is a worker (beginnings of file names). Where none has, all
  // processes below count.
  std::vector<std::string> library_names;
  std::chrono::steady_clock::time_point end;
};

struct ProcessEnvironments {
  Environment environment;                             // of the process itself
  bool is_worker = false;                              // it has such a library loaded
  std::vector<Environment> workers;                    // below it, ascending pid
  std::vector<std::string> libraries;                  // of the process, or of the first worker
  std::optional<std::vector<std::string>> interfaces;  // of its network namespace
  std::vector<std::string> notes;
};

// kNoInput where the process is not there or its environment may not be read. Never blocks beyond `end`.
base::Result<ProcessEnvironments> read_process_environments(const ProcessChoice& choice);

}  // namespace unhang::checks
