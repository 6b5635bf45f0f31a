// SPDX-License-Identifier: Apache-2.0
//
// One look at this node or pod for `unhang doctor`: everything that decides whether a hang that comes
// tomorrow will leave evidence. Only looks: nothing is changed, no dump is triggered, RAS is greeted and not
// asked. What may block for ever is looked at in child processes; it ends by `end` in any case.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "collect/engine_client.h"
#include "collect/nccl_release.h"
#include "model/node_facts.h"
#include "net/address.h"

namespace unhang::collect {

struct NodeLook {
  std::vector<std::int64_t> pids;      // which processes are workers; none and no `match`: those with NCCL
  std::string match;                   // part of a name or a command line
  std::vector<std::string> variables;  // that may be looked at and shown, of workers and launchers
  std::vector<net::HostPort> ras;      // empty: what the workers state, else localhost:28028
  std::vector<EngineEndpoint> engines;
  std::optional<NcclRelease> nccl_release;  // where the user knows it
  // The caller's: PATH, TMPDIR, NCCL_RAS_ADDR, KUBERNETES_SERVICE_HOST, SLURM_JOB_ID.
  std::vector<std::pair<std::string, std::string>> environment;
  std::string folder = ".";  // where a bundle would be written
  std::string proc = "/proc", sys = "/sys", dev = "/dev", run = "/run";
  int wake_fd = -1;  // readable: RAS and engines are waited for no longer
  std::chrono::steady_clock::time_point end;
};

// The caller's variables that `environment` should hold, where they are set.
const std::vector<std::string>& node_variables();

// kIo where `proc` cannot be listed at all.
base::Result<model::NodeFacts> look_at_node(const NodeLook& look);

}  // namespace unhang::collect
