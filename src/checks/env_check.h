// SPDX-License-Identifier: Apache-2.0
//
// From what was read, a file or a process, to one report of `unhang env check`.
#pragma once

#include <chrono>
#include <string>

#include "checks/env_processes.h"
#include "checks/env_sources.h"
#include "checks/software.h"
#include "model/check_result.h"

namespace unhang::checks {

struct EnvCheckOptions {
  Software software;
  std::chrono::nanoseconds collective_timeout = std::chrono::minutes(10);
};

// Of several containers each is checked; what several have in common is one result with all its places. The
// worker pods of a LeaderWorkerSet are also compared with the leader.
model::CheckReport check_sources(const EnvSources& sources, const std::string& subject,
                                 const EnvCheckOptions& options);

// The process is checked and compared with its workers; one that only launches is checked together with its
// first worker.
model::CheckReport check_processes(const ProcessEnvironments& processes, const EnvCheckOptions& options);

}  // namespace unhang::checks
