// SPDX-License-Identifier: Apache-2.0
//
// Tools that show stacks and devices, and the rights that they, and we, need.
#include <algorithm>

#include "base/printable.h"
#include "checks/node_checks.h"

namespace unhang::checks {
namespace {

using Status = model::CheckStatus;

// capability.h of the kernel.
constexpr int kSysPtrace = 19, kSysAdmin = 21, kSyslog = 34, kPerfmon = 38;

std::optional<bool> has_capability(const NodeSubject& subject, int number) {
  const auto& bits = subject.facts.rights.capabilities;
  if (!bits) return std::nullopt;
  return ((*bits >> number) & 1u) != 0;
}

Outcomes stack_tools(const NodeSubject& subject) {
  const bool gdb = subject.facts.tool("gdb") != nullptr, py_spy = subject.facts.tool("py-spy") != nullptr;
  if (gdb && py_spy) return passed();
  const std::string fix = std::string(py_spy ? "" : "pip install py-spy") + (gdb || py_spy ? "" : "\n") +
                          (gdb ? "" : "sudo apt-get install gdb");
  if (!gdb && !py_spy)
    return {{Status::kWarn,
             "neither py-spy nor gdb is installed: of a stuck worker only its waits in the kernel "
             "can be shown",
             fix,
             {}}};
  if (gdb) {
    return {{Status::kWarn,
             "py-spy is not installed: Python's stacks are had only through gdb, which is slow",
             fix,
             {}}};
  }
  return passed("py-spy is there; gdb, for stacks inside of NCCL and CUDA, is not");
}

Outcomes gpu_tool(const NodeSubject& subject) {
  const model::NodeFacts& facts = subject.facts;
  if (facts.devices.gpu_nodes.empty()) return not_applicable();
  if (facts.tool("nvidia-smi") != nullptr) return passed();
  return {{Status::kWarn,
           "GPUs are here, and nvidia-smi is not in PATH",
           "docker run --gpus all -e NVIDIA_DRIVER_CAPABILITIES=compute,utility …",
           {}}};
}

Outcomes scheduler_tools(const NodeSubject& subject) {
  const model::NodeFacts& facts = subject.facts;
  if (!facts.in_slurm && !facts.in_kubernetes) return not_applicable();
  Outcomes outcomes;
  if (facts.in_slurm && facts.tool("scontrol") == nullptr) {
    outcomes.push_back({Status::kWarn,
                        "this is a Slurm job, and scontrol is not in PATH",
                        "sudo apt-get install slurm-client",
                        {}});
  }
  if (facts.in_kubernetes && facts.tool("kubectl") == nullptr && !facts.has_kubernetes_account) {
    outcomes.push_back(
        {Status::kWarn,
         "this pod has neither kubectl nor a service account: its events are not had from inside",
         "# in the pod's spec:\nautomountServiceAccountToken: true",
         {}});
  }
  return outcomes.empty() ? passed() : outcomes;
}

// Why one process may not look into another one of `user`; empty: it may.
struct Barrier {
  Status status = Status::kPass;
  std::string detail, fix;
};
Barrier barrier_to(const NodeSubject& subject, std::optional<std::int64_t> user) {
  const model::NodeRights& rights = subject.facts.rights;
  const std::string add = "# in a pod: securityContext: {capabilities: {add: [SYS_PTRACE]}}";
  constexpr std::int64_t kChildrenOnly = 1, kAdministrators = 2, kNobody = 3;
  const std::int64_t scope = rights.ptrace_scope.value_or(0);
  if (scope >= kNobody) {
    return {Status::kFail, "kernel.yama.ptrace_scope is 3: no process may look into another one",
            "# kernel.yama.ptrace_scope = 1 in /etc/sysctl.d, and boot again:\n"
            "grep -rn ptrace_scope /etc/sysctl.d /etc/sysctl.conf"};
  }
  if (has_capability(subject, kSysPtrace).value_or(false)) return {};
  if (user && rights.user && *user != *rights.user) {
    return {Status::kFail,
            "the workers run as user " + std::to_string(*user) + ", this is user " +
                std::to_string(*rights.user) + " without CAP_SYS_PTRACE: py-spy and gdb are refused",
            "sudo unhang doctor\n" + add};
  }
  if (scope == kChildrenOnly || scope == kAdministrators) {
    return {Status::kWarn,
            "kernel.yama.ptrace_scope is " + std::to_string(scope) +
                ": without CAP_SYS_PTRACE, py-spy and gdb are refused also for one's own processes",
            "sudo sysctl kernel.yama.ptrace_scope=0   # or run them with sudo\n" + add};
  }
  return {};
}

Outcomes ptrace(const NodeSubject& subject) {
  const model::NodeRights& rights = subject.facts.rights;
  if (!rights.capabilities && !rights.ptrace_scope) {
    return {{Status::kUnknown,
             "neither our capabilities nor kernel.yama.ptrace_scope can be read",
             "grep CapEff /proc/self/status; sysctl kernel.yama.ptrace_scope",
             {}}};
  }
  Barrier worst = barrier_to(subject, std::nullopt);
  std::vector<std::string> who;
  for (const model::NodeWorker& worker : subject.facts.workers) {
    const Barrier one = barrier_to(subject, worker.user);
    if (one.status == Status::kPass) continue;
    if (one.status > worst.status) {
      worst = one;
      who.clear();
    }
    if (one.detail == worst.detail) who.push_back(name_of(worker.process));
  }
  if (worst.status == Status::kPass) return passed();
  return {{worst.status, worst.detail, worst.fix, who}};
}

Outcomes kernel_log(const NodeSubject& subject) {
  const model::NodeRights& rights = subject.facts.rights;
  const auto may = has_capability(subject, kSyslog);
  const std::string add = "# in a pod: capabilities: {add: [SYSLOG]}, and /dev/kmsg mounted";
  if (rights.dmesg_restrict.value_or(0) != 0 && may == false) {
    return {{Status::kWarn,
             "the kernel's log may be read by root only (kernel.dmesg_restrict is 1)",
             "sudo sysctl kernel.dmesg_restrict=0   # or run unhang with sudo\n" + add,
             {}}};
  }
  if (rights.kernel_log.looked && !rights.kernel_log.exists) {
    return {{Status::kWarn,
             "there is no /dev/kmsg here: Xid errors and killed processes are not seen from inside",
             "docker run --device /dev/kmsg --cap-add SYSLOG …\n" + add,
             {}}};
  }
  if (!rights.dmesg_restrict)
    return {{Status::kUnknown, "whether the kernel's log may be read is not known", "dmesg | tail -1", {}}};
  return passed();
}

Outcomes proc_open(const NodeSubject& subject) {
  const model::NodeRights& rights = subject.facts.rights;
  if (rights.hidepid.empty() || has_capability(subject, kSysPtrace).value_or(false)) return passed();
  return {{Status::kWarn,
           "/proc hides the processes of others (hidepid=" + base::printable(rights.hidepid) + ")",
           "sudo mount -o remount,hidepid=0 /proc\n# or run unhang as the workers' user",
           {}}};
}

Outcomes perf_events(const NodeSubject& subject) {
  constexpr std::int64_t kUsersMayProfile = 2;
  const auto& level = subject.facts.rights.perf_event_paranoid;
  if (!level) return not_applicable();
  if (*level <= kUsersMayProfile || has_capability(subject, kPerfmon).value_or(false) ||
      has_capability(subject, kSysAdmin).value_or(false))
    return passed();
  return {{Status::kWarn,
           "kernel.perf_event_paranoid is " + std::to_string(*level) +
               ": perf cannot show what a busy worker does",
           "sudo sysctl kernel.perf_event_paranoid=2",
           {}}};
}

constexpr Check<NodeSubject> kChecks[] = {
    {"stack-tools", "py-spy and gdb are installed",
     "A rank that never came is explained by its stack: dataloader, checkpoint, compilation, a lock.",
     &stack_tools},
    {"gpu-tool", "nvidia-smi is installed", "It shows which GPU stands, throttles or has fallen off the bus.",
     &gpu_tool},
    {"scheduler-tools", "the scheduler can be asked",
     "It tells what was done to the job: evicted, preempted, killed for memory.", &scheduler_tools},
    {"ptrace", "stacks of the workers may be taken",
     "When the job hangs nobody has the time to find out why py-spy is refused.", &ptrace},
    {"kernel-log", "the kernel's log may be read",
     "Xid errors, links that fell, and processes killed for memory stand only there.", &kernel_log},
    {"proc-open", "/proc shows all processes", "Workers that are not seen cannot be looked at.", &proc_open},
    {"perf-events", "perf may be used", "It tells a busy loop from a wait.", &perf_events},
};

}  // namespace

std::span<const Check<NodeSubject>> node_checks_of_rights() {
  return kChecks;
}

}  // namespace unhang::checks
