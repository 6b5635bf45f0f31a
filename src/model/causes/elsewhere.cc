// SPDX-License-Identifier: Apache-2.0
#include "model/causes/causes.h"

namespace unhang::model::causes {
namespace {

constexpr Category kNotCommunication[] = {Category::kNotCommunication};
constexpr Category kHealthy[] = {Category::kHealthy};
constexpr Category kAny[] = {Category::kHealthy,
                             Category::kPerformanceDegradation,
                             Category::kProcessOrDeviceUnavailable,
                             Category::kInitializationHang,
                             Category::kCollectiveDesync,
                             Category::kTransportStall,
                             Category::kNotCommunication,
                             Category::kInconclusive};

constexpr CauseInfo kCauses[] = {
    {.code = "after_init",
     .title = "communication is up; the job is busy with something that comes after it",
     .categories = kNotCommunication,
     .means =
         "The groups are ready and nobody waits in an operation. The ranks load weights, compile, capture "
         "graphs or start the engine, which can take many minutes.",
     .shows =
         "All initialisations complete and nothing pending in any group; stacks in loading, compilation or "
         "engine code. vLLM's 'No available shared memory broadcast block found in 60 seconds' is normal "
         "during compilation.",
     .confirm =
         "`py-spy dump --pid PID` on two ranks, twice, a minute apart: stacks that change are progress. Disk "
         "and network rates while weights load.",
     .fix =
         "Wait while it advances. If it stands still, repair what the stack shows (storage, compiler cache, "
         "download) and restart the instance.",
     .recovery = RecoveryLevel::kNone,
     .fault_domain = FaultDomain::kApplication},

    {.code = "outside_coverage",
     .title = "the waiting is in a transport that this evidence cannot see",
     .categories = kNotCommunication,
     .means = "KV-cache transfer, DeepEP or NVSHMEM, custom all-reduce, symmetric memory and operations "
              "inside CUDA "
              "graphs leave no record in the Flight Recorder, and often none in RAS.",
     .shows = "Nothing is pending in any group that is visible, yet the job does not advance; stacks stand "
              "in such a "
              "library.",
     .confirm = "`py-spy dump --native --pid PID` on every rank: which library do they wait in, and which "
                "rank waits "
                "elsewhere? The engine's own log and counters; for NCCL communicators `unhang ras status`.",
     .fix = "Use the evidence of that library. To restore service, rebuild all processes of the instance "
            "together.",
     .recovery = RecoveryLevel::kInstance,
     .fault_domain = FaultDomain::kUnknown},

    {.code = "stale_watchdog",
     .title = "a rank's recorded state is a little older than its work (harmless)",
     .categories = kHealthy,
     .means = "Completion is written by a watchdog thread that looks now and then. A dump taken in between "
              "shows the "
              "last operation or two as unfinished, although the peers prove that they are done.",
     .shows = "One rank is behind by one or two operations which need that rank, and which its peers have "
              "completed. "
              "Three or more in one group is no longer this: see gpu_not_progressing.",
     .confirm = "Take a second dump some seconds later: the state has moved on.",
     .fix = "Nothing to repair.",
     .recovery = RecoveryLevel::kNone,
     .fault_domain = FaultDomain::kProcess},

    {.code = "unknown",
     .title = "the evidence does not say why",
     .categories = kAny,
     .means = "What happened is known as far as the verdict says; the reason behind it left no trace in the "
              "evidence "
              "at hand. Service can be restored before the reason is known.",
     .shows =
         "For example: every member has entered the operation and nobody has finished it, and no log, kernel "
         "message or counter points at a link, a GPU or a host.",
     .confirm =
         "Before anything is restarted, on every host: the dumps of all ranks, `py-spy dump --native --pid "
         "PID`, `dmesg -T`, `nvidia-smi -q`, `ibstat`, and `unhang ras status --raw FILE` twice, some "
         "seconds apart. Then "
         "diagnose again with all of it.",
     .fix =
         "Save that evidence, then rebuild the whole group. Re-test the nodes of the group before they serve "
         "again; a fault that comes back in the same place is then known.",
     .recovery = RecoveryLevel::kProcessGroup,
     .fault_domain = FaultDomain::kUnknown},
};

}  // namespace

std::span<const CauseInfo> elsewhere() {
  return kCauses;
}

}  // namespace unhang::model::causes
