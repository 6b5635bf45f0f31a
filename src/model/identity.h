// SPDX-License-Identifier: Apache-2.0
//
// Who a rank is, by everything that says so. Each fact carries where it was read: the same rank is "rank 3"
// to PyTorch, pid 412 to NCCL, pid 88121 to the kernel, GPU 0000:b3:00.0 to the driver and 10.0.0.7 to a
// peer, and a finding is worth as much as the chain that leads from one name to the next. Values only.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace unhang::model {

enum class IdentityKey : std::uint8_t {
  kHost,          // as its own system calls it
  kAddress,       // "10.0.0.7"
  kNode,          // as the scheduler calls the machine
  kPod,           // of Kubernetes
  kPid,           // as the machine counts
  kContainerPid,  // as the container counts
  kGpuOrdinal,    // the process' own number of its device
  kGpuBusId,      // "0000:b3:00.0"
  kGpuUuid,       // "GPU-…"
  kCommunicator,  // "0xabc123:3": a communicator's id and the rank in it
  kGroup,         // "tp (9):1": a process group and the rank in it
  kRole,          // "tp=1": place in the engine's layout
  kInstance,      // of the model instance
  kDeployment,    // its version
};
std::string_view name_of(IdentityKey value);  // "gpu_bus_id"

struct IdentityFact {
  IdentityKey key = IdentityKey::kHost;
  std::string value;
  std::string source;                  // "flight_recorder", "ras", "nccl_log", "watchdog_log", "process", …
  std::optional<std::uint32_t> input;  // index into Case::inputs: where it was read first
};

struct RankIdentity {
  std::int32_t global_rank = -1;
  std::vector<IdentityFact> facts;  // by key, then value, then source; each only once
};

// One machine and all its names. Two names are one machine only where a source says so.
struct HostIdentity {
  std::string name;                  // the one that people would look for
  std::vector<std::string> aliases;  // addresses, long names, node and pod names; ascending, without `name`
  std::vector<std::int32_t> ranks;   // global ranks that are known to be on it, ascending
};

}  // namespace unhang::model
