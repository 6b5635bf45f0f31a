// SPDX-License-Identifier: Apache-2.0
//
// For tests only: a node as it should be, two workers on a machine with GPUs and adapters, and its parts.
#pragma once

#include <limits>
#include <string>
#include <utility>

#include "model/node_facts.h"

namespace unhang::checks::fixture {

using model::AddressScope;
using model::NodeFacts;
using model::PathFacts;
using model::PathKind;

inline constexpr std::uint64_t kGiB = std::uint64_t{1} << 30, kMiB = std::uint64_t{1} << 20;
inline constexpr std::uint64_t kUnlimited = std::numeric_limits<std::uint64_t>::max();

inline PathFacts folder(std::string path, std::uint32_t rights = 0755, std::int64_t owner = 1000) {
  PathFacts facts;
  facts.path = std::move(path);
  facts.looked = facts.exists = true;
  facts.kind = PathKind::kFolder;
  facts.rights = rights;
  facts.owner = facts.group = owner;
  facts.file_system = "ext4";
  facts.bytes_total = 100 * kGiB;
  facts.bytes_free = 50 * kGiB;
  facts.inodes_free = 1'000'000;
  return facts;
}

inline PathFacts fifo(std::string path) {
  PathFacts facts = folder(std::move(path), 0666);
  facts.kind = PathKind::kFifo;
  return facts;
}

inline PathFacts absent(std::string path) {
  PathFacts facts;
  facts.path = std::move(path);
  facts.looked = true;
  return facts;
}

inline model::NodeWorker worker(std::int64_t pid, std::int64_t rank) {
  model::NodeWorker out;
  out.process = {.pid = pid,
                 .name = "python3",
                 .environment_known = true,
                 .environment = {{"NCCL_DEBUG", "INFO"},
                                 {"NCCL_DEBUG_FILE", "/var/log/nccl/nccl.%h.%p.log"},
                                 {"NCCL_DEBUG_TIMESTAMP_FORMAT", "[%F %T.%6f] "},
                                 {"TORCH_FR_BUFFER_SIZE", "2000"},
                                 {"TORCH_NCCL_TRACE_BUFFER_SIZE", "2000"},
                                 {"TORCH_NCCL_DUMP_ON_TIMEOUT", "1"},
                                 {"TORCH_FR_DUMP_TEMP_FILE", "/var/log/nccl/fr_rank_"},
                                 {"TORCH_NCCL_DEBUG_INFO_PIPE_FILE", "/var/log/nccl/fr_pipe_"},
                                 {"TZ", "UTC"},
                                 {"NCCL_DEBUG_TIMESTAMP_LEVELS", "ALL"}}};
  out.user = 1000;
  out.groups = {1000};
  out.rank = rank;
  out.nccl_release = "2.28.9";
  out.torch_release = "2.11.0";
  out.memlock_bytes = kUnlimited;
  return out;
}

// Everything as it should be: two workers on a machine with GPUs and adapters.
inline NodeFacts ready() {
  NodeFacts facts;
  facts.workers = {worker(100, 0), worker(101, 1)};
  facts.dump_places = {{.prefix = "/var/log/nccl/fr_rank_",
                        .is_set = true,
                        .reach = {},
                        .folder = folder("/var/log/nccl/"),
                        .above = {},
                        .workers = {0, 1},
                        .old_dumps = {}}};
  facts.fifos = {
      {.stem = "/var/log/nccl/fr_pipe_",
       .reach = {},
       .folder = folder("/var/log/nccl/"),
       .pipes = {{0, fifo("/var/log/nccl/fr_pipe_0.pipe")}, {1, fifo("/var/log/nccl/fr_pipe_1.pipe")}},
       .workers = {0, 1}}};
  model::NodeRas ras;
  ras.address = "localhost:28028";
  ras.expected = ras.answered = true;
  ras.release = "2.28.9";
  ras.bound = {{"127.0.0.1", AddressScope::kLoopback}, {"::1", AddressScope::kLoopback}};
  facts.ras = {ras};
  model::NodeEngine engine;
  engine.address = "http://127.0.0.1:8000";
  engine.health = 200;
  engine.has_page = true;
  engine.engine = "vllm";
  engine.counters = 1;
  facts.engines = {engine};
  facts.clock.synchronized = true;
  for (const char* name : {"gdb", "py-spy", "nvidia-smi", "dmesg", "kubectl", "scontrol"})
    facts.tools.emplace_back(name, std::string("/usr/bin/") + name);
  facts.rights.user = 1000;
  facts.rights.capabilities = 0;
  facts.rights.ptrace_scope = facts.rights.dmesg_restrict = 0;
  facts.rights.perf_event_paranoid = 2;
  facts.rights.kernel_log = folder("/dev/kmsg");
  facts.bundle_places = {folder("/tmp"), folder(".")};
  facts.shm = {{folder("/dev/shm", 01777, 0), {0, 1}}};
  facts.shm[0].folder.bytes_total = facts.shm[0].folder.bytes_free = 8 * kGiB;
  facts.core_pattern = "core";
  facts.memory = {{.group = "/job", .limit = 100 * kGiB, .used = 50 * kGiB}};
  facts.devices.rdma = facts.devices.rdma_capable = {"mlx5_0"};
  facts.devices.rdma_nodes = true;
  facts.devices.gpus = {"0000:18:00.0"};
  facts.devices.gpu_nodes = {"nvidia0"};
  facts.devices.gpu_control = facts.devices.sys_readable = true;
  facts.devices.kernel_driver = facts.devices.driver_library = "570.86.10";
  facts.devices.driver_library_path = "/usr/lib64";
  return facts;
}

}  // namespace unhang::checks::fixture
