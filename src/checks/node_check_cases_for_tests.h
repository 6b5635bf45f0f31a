// SPDX-License-Identifier: Apache-2.0
//
// For tests only: what is changed in a node that is as it should be, and what a check of `unhang doctor` then
// has to say. Each check has a case that fires, and one that looks like it and does not.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "checks/ready_node_for_tests.h"
#include "model/check_result.h"

namespace unhang::checks::fixture {

using Status = model::CheckStatus;

inline constexpr std::uint64_t kPtraceCapability = std::uint64_t{1} << 19,
                               kSyslogCapability = std::uint64_t{1} << 34;

struct Case {
  const char* id;
  std::optional<Status> expected;  // nullopt: it must not apply
  std::function<void(NodeFacts&)> change;
};

inline const std::vector<Case>& cases() {
  constexpr std::optional<Status> kNone;
  static const std::vector<Case> all{
      {"workers-found", Status::kFail,
       [](NodeFacts& facts) {
         facts = NodeFacts{};
         facts.was_asked_for = true;
       }},
      {"workers-found", kNone, [](NodeFacts& facts) { facts = NodeFacts{}; }},
      {"workers-readable", Status::kFail,
       [](NodeFacts& facts) { facts.workers[1].process.environment_known = false; }},
      {"workers-readable", Status::kFail,
       [](NodeFacts& facts) { facts.workers[0].not_readable = {"maps: Permission denied"}; }},

      {"fifo-armed", Status::kWarn, [](NodeFacts& facts) { facts.fifos.clear(); }},
      {"fifo-armed", kNone,
       [](NodeFacts& facts) {  // no recorder: the rule recorder-off says so
         facts.fifos.clear();
         for (auto& one : facts.workers) one.process.environment[3].second = "0";
       }},
      {"fifo-there", Status::kFail, [](NodeFacts& facts) { facts.fifos[0].pipes.pop_back(); }},
      {"fifo-there", Status::kFail,
       [](NodeFacts& facts) { facts.fifos[0].pipes[1].second.kind = PathKind::kFile; }},
      {"fifo-there", Status::kFail,
       [](NodeFacts& facts) {  // engines do not say the rank: the number is compared
         for (auto& one : facts.workers) one.rank.reset();
         facts.fifos[0].pipes.pop_back();
       }},
      {"fifo-there", Status::kPass,
       [](NodeFacts& facts) {
         for (auto& one : facts.workers) one.rank.reset();
       }},
      {"fifo-there", Status::kUnknown,
       [](NodeFacts& facts) {
         facts.fifos[0].folder.looked = facts.fifos[0].folder.exists = false;
         facts.fifos[0].folder.trouble = "Permission denied";
         facts.fifos[0].pipes.clear();
       }},
      {"fifo-private", Status::kFail, [](NodeFacts& facts) { facts.fifos[0].pipes[0].second.owner = 1001; }},
      {"fifo-private", Status::kWarn, [](NodeFacts& facts) { facts.fifos[0].folder.rights = 01777; }},
      {"fifo-private", Status::kPass, [](NodeFacts& facts) { facts.fifos[0].folder.rights = 0775; }},

      {"dump-folder", Status::kFail,
       [](NodeFacts& facts) { facts.dump_places[0].folder = absent("/var/log/nccl/"); }},
      {"dump-folder", Status::kPass,
       [](NodeFacts& facts) {  // PyTorch makes the one of its own default
         facts.dump_places[0].folder = absent("/root/.cache/torch/");
         facts.dump_places[0].is_set = false;
       }},
      {"dump-folder", Status::kFail,
       [](NodeFacts& facts) {  // unless it may not
         facts.dump_places[0].folder = absent("/root/.cache/torch/");
         facts.dump_places[0].above = folder("/root", 0700, 0);
         facts.dump_places[0].is_set = false;
       }},
      {"dump-folder", Status::kFail,
       [](NodeFacts& facts) { facts.dump_places[0].folder = folder("/var/log/nccl/", 0755, 0); }},
      {"dump-folder", Status::kPass,
       [](NodeFacts& facts) {
         facts.dump_places[0].folder = folder("/var/log/nccl/", 0755, 0);
         for (auto& one : facts.workers) one.user = 0;
       }},
      {"dump-folder", Status::kFail, [](NodeFacts& facts) { facts.dump_places[0].folder.read_only = true; }},
      {"dump-folder", Status::kFail,
       [](NodeFacts& facts) { facts.dump_places[0].folder.kind = PathKind::kFile; }},
      {"dump-folder", kNone,
       [](NodeFacts& facts) {
         facts.dump_places[0].folder = absent("/var/log/nccl/");
         for (auto& one : facts.workers) one.process.environment[3].second = "0";
       }},
      {"dump-space", Status::kFail, [](NodeFacts& facts) { facts.dump_places[0].folder.bytes_free = kMiB; }},
      {"dump-space", Status::kWarn,
       [](NodeFacts& facts) { facts.dump_places[0].folder.bytes_free = 4 * kMiB; }},
      {"dump-space", Status::kFail, [](NodeFacts& facts) { facts.dump_places[0].folder.inodes_free = 3; }},
      {"dump-space", Status::kPass,
       [](NodeFacts& facts) { facts.dump_places[0].folder.inodes_free.reset(); }},
      {"dump-in-memory", Status::kWarn,
       [](NodeFacts& facts) { facts.dump_places[0].folder.file_system = "tmpfs"; }},
      {"dump-on-network", Status::kWarn,
       [](NodeFacts& facts) { facts.dump_places[0].folder.file_system = "nfs"; }},
      {"dump-on-network", Status::kPass,
       [](NodeFacts& facts) { facts.dump_places[0].folder.file_system = "0x1234"; }},
      {"dump-old", Status::kWarn,
       [](NodeFacts& facts) { facts.dump_places[0].old_dumps = {"/var/log/nccl/fr_rank_0"}; }},

      {"ras-answers", Status::kFail,
       [](NodeFacts& facts) {
         facts.ras[0].answered = false;
         facts.ras[0].trouble = "connection refused";
       }},
      {"ras-answers", Status::kUnknown,
       [](NodeFacts& facts) {
         facts.ras[0].answered = facts.ras[0].expected = false;
         facts.ras[0].trouble = "connection refused";
       }},
      {"ras-answers", Status::kWarn, [](NodeFacts& facts) { facts.ras[0].trouble = "it said nothing"; }},
      {"ras-answers", kNone, [](NodeFacts& facts) { facts.ras[0].too_old = true; }},
      {"ras-open", Status::kFail,
       [](NodeFacts& facts) { facts.ras[0].bound.emplace_back("203.0.113.7", AddressScope::kPublic); }},
      {"ras-open", Status::kFail,
       [](NodeFacts& facts) { facts.ras[0].bound.emplace_back("0.0.0.0", AddressScope::kEverywhere); }},
      {"ras-open", Status::kWarn,
       [](NodeFacts& facts) { facts.ras[0].bound.emplace_back("10.0.0.7", AddressScope::kPrivate); }},
      {"ras-open", kNone, [](NodeFacts& facts) { facts.ras[0].bound.clear(); }},
      {"ras-release", Status::kWarn,
       [](NodeFacts& facts) {
         facts.ras[0].release = "2.21.5";
         facts.ras[0].too_old = true;
       }},
      {"ras-release", Status::kWarn,
       [](NodeFacts& facts) { facts.ras[0].hazard = "a question may crash it"; }},
      {"ras-release", kNone, [](NodeFacts& facts) { facts.ras[0].release.clear(); }},
      {"debug-server-open", Status::kWarn,
       [](NodeFacts& facts) {
         facts.debug_server = {{"::", AddressScope::kEverywhere}};
       }},
      {"debug-server-open", Status::kPass,
       [](NodeFacts& facts) {
         facts.debug_server = {{"::1", AddressScope::kLoopback}};
       }},
      {"engine-health", Status::kFail, [](NodeFacts& facts) { facts.engines[0].health = 503; }},
      {"engine-health", Status::kFail, [](NodeFacts& facts) { facts.engines[0].health.reset(); }},
      {"engine-health", kNone, [](NodeFacts& facts) { facts.engines.clear(); }},
      {"engine-metrics", Status::kFail, [](NodeFacts& facts) { facts.engines[0].has_page = false; }},
      {"engine-metrics", Status::kFail, [](NodeFacts& facts) { facts.engines[0].engine.clear(); }},
      {"engine-metrics", Status::kWarn, [](NodeFacts& facts) { facts.engines[0].trouble = "cut off"; }},
      {"clock-sync", Status::kWarn, [](NodeFacts& facts) { facts.clock.synchronized = false; }},
      {"clock-sync", Status::kUnknown, [](NodeFacts& facts) { facts.clock.synchronized.reset(); }},

      {"stack-tools", Status::kWarn, [](NodeFacts& facts) { facts.tools.clear(); }},
      {"stack-tools", Status::kWarn, [](NodeFacts& facts) { facts.tools[1].second.clear(); }},
      {"stack-tools", Status::kPass, [](NodeFacts& facts) { facts.tools[0].second.clear(); }},
      {"gpu-tool", Status::kWarn, [](NodeFacts& facts) { facts.tools.clear(); }},
      {"gpu-tool", kNone,
       [](NodeFacts& facts) {
         facts.tools.clear();
         facts.devices.gpu_nodes.clear();
       }},
      {"scheduler-tools", Status::kWarn,
       [](NodeFacts& facts) {
         facts.in_slurm = true;
         facts.tools.clear();
       }},
      {"scheduler-tools", Status::kPass, [](NodeFacts& facts) { facts.in_slurm = true; }},
      {"scheduler-tools", Status::kWarn,
       [](NodeFacts& facts) {
         facts.in_container = facts.in_kubernetes = true;
         facts.tools.clear();
       }},
      {"scheduler-tools", Status::kPass,
       [](NodeFacts& facts) {
         facts.in_container = facts.in_kubernetes = facts.has_kubernetes_account = true;
         facts.tools.clear();
       }},
      {"ptrace", Status::kFail, [](NodeFacts& facts) { facts.rights.user = 1001; }},
      {"ptrace", Status::kPass,
       [](NodeFacts& facts) {
         facts.rights.user = 0;
         facts.rights.ptrace_scope = 2;
         facts.rights.capabilities = kPtraceCapability;
       }},
      {"ptrace", Status::kFail,
       [](NodeFacts& facts) {  // nobody may, whatever they have
         facts.rights.ptrace_scope = 3;
         facts.rights.capabilities = kPtraceCapability;
       }},
      {"ptrace", Status::kWarn, [](NodeFacts& facts) { facts.rights.ptrace_scope = 1; }},
      {"ptrace", Status::kUnknown,
       [](NodeFacts& facts) {
         facts.rights.ptrace_scope.reset();
         facts.rights.capabilities.reset();
       }},
      {"kernel-log", Status::kWarn, [](NodeFacts& facts) { facts.rights.dmesg_restrict = 1; }},
      {"kernel-log", Status::kPass,
       [](NodeFacts& facts) {
         facts.rights.dmesg_restrict = 1;
         facts.rights.capabilities = kSyslogCapability;
       }},
      {"kernel-log", Status::kWarn, [](NodeFacts& facts) { facts.rights.kernel_log = absent("/dev/kmsg"); }},
      {"kernel-log", Status::kUnknown, [](NodeFacts& facts) { facts.rights.dmesg_restrict.reset(); }},
      {"proc-open", Status::kWarn, [](NodeFacts& facts) { facts.rights.hidepid = "2"; }},
      {"proc-open", Status::kPass,
       [](NodeFacts& facts) {
         facts.rights.hidepid = "2";
         facts.rights.capabilities = kPtraceCapability;
       }},
      {"perf-events", Status::kWarn, [](NodeFacts& facts) { facts.rights.perf_event_paranoid = 3; }},
      {"perf-events", kNone, [](NodeFacts& facts) { facts.rights.perf_event_paranoid.reset(); }},

      {"bundle-space", Status::kFail, [](NodeFacts& facts) { facts.bundle_places[0].bytes_free = kMiB; }},
      {"bundle-space", Status::kWarn,
       [](NodeFacts& facts) { facts.bundle_places[1].bytes_free = 500 * kMiB; }},
      {"bundle-space", Status::kWarn, [](NodeFacts& facts) { facts.bundle_places[0] = absent("/scratch"); }},
      {"shm-size", Status::kWarn,
       [](NodeFacts& facts) {
         facts.shm[0].folder.bytes_total = facts.shm[0].folder.bytes_free = 512 * kMiB;
       }},
      {"shm-size", Status::kFail,
       [](NodeFacts& facts) {  // Docker's default
         facts.shm[0].folder.bytes_total = facts.shm[0].folder.bytes_free = 64 * kMiB;
         facts.workers.push_back(worker(102, 2));
         facts.shm[0].workers.push_back(2);
       }},
      {"shm-size", Status::kFail, [](NodeFacts& facts) { facts.shm[0].folder.bytes_free = 4096; }},
      {"shm-size", Status::kFail,
       [](NodeFacts& facts) {  // of the second container
         facts.shm.push_back({absent("/dev/shm"), {1}});
       }},
      {"shm-size", Status::kUnknown,
       [](NodeFacts& facts) {
         facts.shm[0].folder = {};
         facts.shm[0].folder.trouble = "Permission denied";
       }},
      {"shm-size", Status::kFail, [](NodeFacts& facts) { facts.shm[0].folder = absent("/dev/shm"); }},
      {"memlock", Status::kWarn, [](NodeFacts& facts) { facts.workers[1].memlock_bytes = 8 * kMiB; }},
      {"memlock", kNone,
       [](NodeFacts& facts) {  // without adapters nothing has to be locked
         facts.workers[1].memlock_bytes = 8 * kMiB;
         facts.devices.rdma.clear();
       }},
      {"memory-limit", Status::kWarn, [](NodeFacts& facts) { facts.memory[0].used = 95 * kGiB; }},
      {"memory-limit", kNone, [](NodeFacts& facts) { facts.memory.clear(); }},
      {"core-files", Status::kPass,
       [](NodeFacts& facts) {
         facts.core_pattern = "|/usr/share/apport/apport %p";
         facts.in_container = true;
         facts.core_handler_exists = false;
       }},

      {"rdma-usable", Status::kFail, [](NodeFacts& facts) { facts.devices.rdma.clear(); }},
      {"rdma-usable", Status::kFail, [](NodeFacts& facts) { facts.devices.rdma_nodes = false; }},
      {"rdma-usable", Status::kWarn,
       [](NodeFacts& facts) {  // a sidecar
         facts.devices.rdma_nodes = false;
         facts.workers.clear();
         facts.fifos.clear();
         facts.dump_places.clear();
         facts.in_container = true;
       }},
      {"rdma-usable", kNone,
       [](NodeFacts& facts) {
         facts.devices.rdma.clear();
         facts.devices.rdma_capable.clear();
       }},
      {"gpus-usable", Status::kFail, [](NodeFacts& facts) { facts.devices.gpu_nodes.clear(); }},
      {"gpus-usable", Status::kFail, [](NodeFacts& facts) { facts.devices.gpu_control = false; }},
      {"gpus-usable", kNone,
       [](NodeFacts& facts) {
         facts.devices.gpus.clear();
         facts.devices.gpu_nodes.clear();
       }},
      {"driver-matches", Status::kFail, [](NodeFacts& facts) { facts.devices.driver_library = "550.54.15"; }},
      {"driver-matches", Status::kUnknown, [](NodeFacts& facts) { facts.devices.driver_library.clear(); }},
      {"driver-matches", kNone,
       [](NodeFacts& facts) {
         facts.devices.kernel_driver.clear();
         facts.devices.gpu_nodes.clear();
       }},

      // Variables, by the rules of `unhang env check`.
      {"recorder-off", Status::kFail,
       [](NodeFacts& facts) { facts.workers[1].process.environment[3].second = "0"; }},
      {"log-file", Status::kFail,
       [](NodeFacts& facts) { facts.workers[1].process.environment[1].second = "/var/log/nccl.log"; }},
      {"ras-public", Status::kFail,
       [](NodeFacts& facts) {
         facts.workers[0].process.environment.emplace_back("NCCL_RAS_ADDR", "0.0.0.0:28028");
       }},
      {"dump-off", Status::kFail,
       [](NodeFacts& facts) { facts.workers[0].process.environment[5].second = "0"; }},
      {"workers-differ", Status::kFail,
       [](NodeFacts& facts) {
         facts.launchers = {{.pid = 90,
                             .name = "torchrun",
                             .environment_known = true,
                             .environment = {{"NCCL_IB_HCA", "mlx5"}}}};
         facts.workers[0].launcher = facts.workers[1].launcher = 0;
       }},
      {"workers-differ", Status::kPass,
       [](NodeFacts& facts) {
         facts.launchers = {{.pid = 90,
                             .name = "torchrun",
                             .environment_known = true,
                             .environment = {{"NCCL_DEBUG", "INFO"}}}};
         facts.workers[0].launcher = facts.workers[1].launcher = 0;
       }},
  };
  return all;
}

}  // namespace unhang::checks::fixture
