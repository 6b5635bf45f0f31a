// SPDX-License-Identifier: Apache-2.0
#include "simulate/fault_kind.h"

#include <array>
#include <cstddef>

namespace unhang::simulate {
namespace {

constexpr std::array<FaultInfo, 31> kCatalogue = {{
    {FaultKind::kNone, "none", "everything completes"},
    {FaultKind::kRankNotEntered, "rank_not_entered",
     "a rank stops on the host before a collective of the world"},
    {FaultKind::kRank0NotEntered, "rank0_not_entered", "the same, and it is rank 0"},
    {FaultKind::kSeveralNotEntered, "several_not_entered",
     "two or three ranks stop before the same collective"},
    {FaultKind::kSubgroupNotEntered, "subgroup_not_entered",
     "a rank stops before a tensor-parallel collective; other groups only wait"},
    {FaultKind::kNeverJoined, "never_joined", "a rank does not enter the first operation of the job"},
    {FaultKind::kSkippedCollective, "skipped_collective", "a rank leaves out one collective and goes on"},
    {FaultKind::kExtraCollective, "extra_collective", "a rank makes a call that the others do not make"},
    {FaultKind::kOpMismatch, "op_mismatch", "a rank calls another collective than the others"},
    {FaultKind::kSizeMismatch, "size_mismatch", "a rank brings another number of elements"},
    {FaultKind::kDtypeMismatch, "dtype_mismatch", "a rank brings another type of elements"},
    {FaultKind::kOrderInversion, "order_inversion", "a rank calls two groups in the other order, and blocks"},
    {FaultKind::kOrderInversionAsync, "order_inversion_async",
     "the same with asynchronous calls: all are enqueued"},
    {FaultKind::kP2pUnmatched, "p2p_unmatched", "a rank sends to a pipeline neighbour that never receives"},
    {FaultKind::kP2pDeadlock, "p2p_deadlock", "two pipeline neighbours both send first and wait"},
    {FaultKind::kSplitMismatch, "split_mismatch", "the sizes of an all_to_all do not add up"},
    {FaultKind::kRankSilent, "rank_silent",
     "a rank dies before a collective of the world and leaves no dump"},
    {FaultKind::kTransportStall, "transport_stall", "all ranks of a group enter a collective, none finishes"},
    {FaultKind::kGpuNotProgressing, "gpu_not_progressing",
     "a device finishes nothing more while its host goes on enqueuing"},
    {FaultKind::kStraggler, "straggler", "a rank comes late in every step; everything completes"},
    {FaultKind::kStaleWatchdog, "stale_watchdog",
     "no fault: one rank's last operations are not yet noticed as completed"},
    {FaultKind::kTruncatedDump, "truncated_dump", "no fault: one dump is cut off"},
    {FaultKind::kGpuXid, "gpu_xid", "a GPU fails with an Xid in the kernel's log, and its rank stops"},
    {FaultKind::kOomKilled, "oom_killed", "the kernel kills a rank for lack of memory"},
    {FaultKind::kProcessExited, "process_exited", "a rank ends with an exception in its log"},
    {FaultKind::kLinkDown, "link_down",
     "a port goes down on one machine, and adapters give up on their peers"},
    {FaultKind::kIbRetry, "ib_retry", "between one pair of machines nothing arrives any more"},
    {FaultKind::kBadHost, "bad_host", "no machine reaches one of them any more"},
    {FaultKind::kHostFrozen, "host_frozen", "a machine freezes: no dump and no answer of any of its ranks"},
    {FaultKind::kDataloaderBlocked, "dataloader_blocked",
     "a rank waits for its next batch for ever, as its log says"},
    {FaultKind::kInitHang, "init_hang",
     "a rank never begins to make the first communicator: logs alone tell"},
}};

constexpr bool in_order() {
  for (std::size_t i = 0; i < kCatalogue.size(); ++i) {
    if (static_cast<std::size_t>(kCatalogue[i].kind) != i) return false;
  }
  return true;
}
static_assert(in_order(), "info_of finds a kind by its number");

}  // namespace

std::span<const FaultInfo> fault_catalogue() {
  return kCatalogue;
}

const FaultInfo& info_of(FaultKind kind) {
  return kCatalogue[static_cast<std::size_t>(kind)];
}

std::optional<FaultKind> parse_fault(std::string_view name) {
  for (const FaultInfo& info : kCatalogue) {
    if (info.name == name) return info.kind;
  }
  return std::nullopt;
}

}  // namespace unhang::simulate
