// SPDX-License-Identifier: Apache-2.0
#include "model/causes/causes.h"

namespace unhang::model::causes {
namespace {

constexpr Category kUnavailable[] = {Category::kProcessOrDeviceUnavailable};

constexpr CauseInfo kCauses[] = {
    {.code = "process_exited",
     .title = "a process that the others wait for has ended",
     .categories = kUnavailable,
     .means =
         "A rank's process ended before the stall: exception, crash or exit. The others wait for it, or lose "
         "their connection to it.",
     .shows =
         "An exit code, a traceback or a core file earlier than any time-out; then 'Connection closed by "
         "remote peer' on others. Exit -6 is usually the watchdog's abort and -15 the launcher's clean-up: "
         "both are consequences. 1 and -11 are likely causes.",
     .confirm =
         "The end of that rank's log; torchrun's 'Root Cause (first observed failure)' block (first by "
         "detection only); `coredumpctl list`; `dmesg -T | grep -iE 'segfault|oom|xid'` on its host.",
     .fix =
         "Repair the error in its log. Rebuild the whole group: a single restarted rank cannot join again.",
     .recovery = RecoveryLevel::kProcessGroup,
     .fault_domain = FaultDomain::kProcess},

    {.code = "oom_killed",
     .title = "the kernel killed a process because host memory ran out",
     .categories = kUnavailable,
     .means =
         "The host, or the container's memory limit, had no memory left, and the kernel killed the rank with "
         "signal 9. It could write neither log nor dump. /dev/shm counts against the container's limit.",
     .shows = "Kernel 'Out of memory: Killed process' or 'Memory cgroup out of memory'; exit code -9 or 137; "
              "Kubernetes OOMKilled; Slurm 'Detected 1 oom-kill event'.",
     .confirm =
         "On its host: `dmesg -T | grep -iE 'oom-kill|killed process'`; `kubectl describe pod POD`; `sacct "
         "-j JOB --format=JobID,State,ExitCode,MaxRSS`. A kernel pid differs from the pid inside a "
         "container.",
     .fix = "Raise the memory limit, or use less: data loader workers, pinned memory, weights loaded by all "
            "ranks "
            "at once. Then rebuild the whole group.",
     .recovery = RecoveryLevel::kProcessGroup,
     .fault_domain = FaultDomain::kHost},

    {.code = "killed_by_orchestrator",
     .title = "the orchestrator ended a process (probe, eviction, preemption, drain)",
     .categories = kUnavailable,
     .means = "Kubernetes, Slurm or another controller stopped a pod or task of the group: a liveness probe "
              "failed, the node was drained, the pod evicted or preempted. The rest of the group was left "
              "waiting.",
     .shows =
         "Events Killing, Evicted, Preempted or 'Liveness probe failed' before the stall; Slurm PREEMPTED, "
         "NODE_FAIL or CANCELLED; exit code 143.",
     .confirm = "`kubectl get events --sort-by=.lastTimestamp`, `kubectl describe pod POD`; `sacct -j JOB "
                "--format=JobID,State,ExitCode,End`, `scontrol show job JOB`.",
     .fix = "Let the controller treat the group as one unit (recreate all pods together), and give probes "
            "limits "
            "that outlast loading and long steps. Then rebuild the whole group.",
     .recovery = RecoveryLevel::kProcessGroup,
     .fault_domain = FaultDomain::kEnvironment},

    {.code = "process_stopped",
     .title = "a process is stopped or frozen",
     .categories = kUnavailable,
     .means = "The process exists and does not run: SIGSTOP, a debugger, or a frozen container. It holds its "
              "place in the group while everyone waits.",
     .shows = "State T, t or D without any CPU time; no answer to a dump request; cgroup 'frozen 1'. In "
              "logs: 'Could not acquire GIL' where a call holds Python's interpreter lock.",
     .confirm = "`grep -E 'State|TracerPid' /proc/PID/status`; `cat /sys/fs/cgroup/CGROUP/cgroup.events`; "
                "`docker ps --filter status=paused`.",
     .fix = "`kill -CONT PID`, detach the debugger, or `docker unpause`. If no time-out has fired yet, the "
            "job goes "
            "on; else rebuild the whole group.",
     .recovery = RecoveryLevel::kProcessGroup,
     .fault_domain = FaultDomain::kProcess},

    {.code = "rank_silent",
     .title = "no sign of life from a rank that the others wait for",
     .categories = kUnavailable,
     .means = "This rank left no dump, or its process gives NCCL's health service (RAS) no answer. Of dumps "
              "alone it is a "
              "lead, not a proof: most often the file was just not copied. Of RAS it is: the process has "
              "ended, is "
              "stopped, or its host cannot be reached.",
     .shows =
         "Every rank that left evidence waits in an operation which this rank is a member of, and there is "
         "no file of it.",
     .confirm =
         "On its host: `ls -l ~/.cache/torch/comm_lib_trace_rank_* /tmp/nccl_trace_rank_*` and the path in "
         "TORCH_FR_DUMP_TEMP_FILE or TORCH_NCCL_DEBUG_INFO_TEMP_FILE. No file: `ps`, `py-spy dump --pid "
         "PID`, `dmesg -T | tail -50`.",
     .fix =
         "Copy its dump and diagnose again. If it is dead or stuck, rebuild the whole group after its state "
         "has been saved.",
     .recovery = RecoveryLevel::kProcessGroup,
     .fault_domain = FaultDomain::kUnknown},

    {.code = "gpu_xid",
     .title = "a GPU reported a hardware or driver error (Xid)",
     .categories = kUnavailable,
     .means = "The driver reported an error that ends the work on this GPU: memory (48, 64, 95), a halted "
              "GPU (46, "
              "62, 109), its firmware (119, 120) and others. Xid 13, 31, 43 and 45 are faults or ends of "
              "programs, "
              "not of the GPU.",
     .shows =
         "'NVRM: Xid (PCI:...): N' in the kernel log before the stall. Xid 154 states the action that is "
         "needed. In a container the kernel log is often not readable: silence there proves nothing.",
     .confirm =
         "On its host: `dmesg -T | grep Xid`, `nvidia-smi -q | grep -iE 'recovery action|remapp|retired'`.",
     .fix = "Take the node out of service and do what Xid 154 or the recovery action says: reset "
            "(`nvidia-smi -r "
            "-i GPU`, with no process on it) or reboot. Re-test with `dcgmi diag -r 3`. Repeated, or Xid 64: "
            "replace it.",
     .recovery = RecoveryLevel::kNode,
     .fault_domain = FaultDomain::kGpu,
     .isolates_node = true},

    {.code = "gpu_fallen_off_bus",
     .title = "a GPU has fallen off the PCIe bus",
     .categories = kUnavailable,
     .means = "The host can no longer talk to the GPU: power, slot, riser, overheating, or a defect. All "
              "work on it "
              "is lost.",
     .shows =
         "Xid 79, 'GPU has fallen off the bus'; nvidia-smi misses the GPU or prints ERR!; PCIe AER errors "
         "before it.",
     .confirm =
         "`nvidia-smi -L` (count the GPUs), `dmesg -T | grep -iE 'xid|aer|pcieport'`, `lspci | grep -i "
         "nvidia` ('rev ff').",
     .fix =
         "Take the node out of service and power-cycle it (a plain reboot is often not enough). Check power, "
         "seating and cooling, re-test with `dcgmi diag -r 3`. Repeated: replace the GPU.",
     .recovery = RecoveryLevel::kNode,
     .fault_domain = FaultDomain::kGpu,
     .isolates_node = true},

    {.code = "gpu_not_progressing",
     .title = "a GPU finishes nothing any more while its host goes on",
     .categories = kUnavailable,
     .means =
         "The rank's host has enqueued the operations, but its device has not finished ones that its peers "
         "have. The GPU is stuck in earlier work, or halted; or this rank's watchdog no longer looks.",
     .shows =
         "The oldest unfinished operation of the rank lies several operations behind those of its peers in "
         "the same group, although it is recorded in the later ones too. In logs: PyTorch's watchdog 'got "
         "stuck' for hundreds of seconds.",
     .confirm =
         "On its host: `dmesg -T | grep Xid`, `nvidia-smi -q -d UTILIZATION,POWER,PERFORMANCE -i GPU` (100 % "
         "at low power: a waiting kernel; a hanging nvidia-smi is itself a finding), `py-spy dump --native "
         "--pid PID`.",
     .fix = "Save the evidence, rebuild the whole group, and re-test this GPU (`dcgmi diag -r 3`) before it "
            "serves "
            "again; take the node out of service when the test fails or an Xid says so.",
     .recovery = RecoveryLevel::kProcessGroup,
     .fault_domain = FaultDomain::kGpu},

    {.code = "node_unreachable",
     .title = "a whole node does not answer",
     .categories = kUnavailable,
     .means = "All ranks of one node went silent at once: power, kernel crash, or its network is cut off. "
              "The rest "
              "of the job waits for them.",
     .shows =
         "No evidence from any rank of the node; Kubernetes NotReady, Slurm DOWN or NODE_FAIL; RAS declares "
         "all its processes dead.",
     .confirm =
         "`ping -c 3 HOST`, `ssh HOST uptime`, `kubectl get node HOST`, `scontrol show node HOST`, and its "
         "management controller (`ipmitool -H BMC chassis status`).",
     .fix = "Take the node out of service, start the job on other nodes, then read its console and event log "
            "(`ipmitool -H BMC sel list`) before it returns.",
     .recovery = RecoveryLevel::kNode,
     .fault_domain = FaultDomain::kHost,
     .isolates_node = true},
};

}  // namespace

std::span<const CauseInfo> unavailable() {
  return kCauses;
}

}  // namespace unhang::model::causes
