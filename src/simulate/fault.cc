// SPDX-License-Identifier: Apache-2.0
#include "simulate/fault.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "simulate/placement.h"

namespace unhang::simulate {
namespace {

struct FaultFunction {
  FaultKind kind;
  Inject inject;
};

constexpr std::array<FaultFunction, 31> kFunctions = {{
    {FaultKind::kNone, inject_none},
    {FaultKind::kRankNotEntered, inject_rank_not_entered},
    {FaultKind::kRank0NotEntered, inject_rank0_not_entered},
    {FaultKind::kSeveralNotEntered, inject_several_not_entered},
    {FaultKind::kSubgroupNotEntered, inject_subgroup_not_entered},
    {FaultKind::kNeverJoined, inject_never_joined},
    {FaultKind::kSkippedCollective, inject_skipped_collective},
    {FaultKind::kExtraCollective, inject_extra_collective},
    {FaultKind::kOpMismatch, inject_op_mismatch},
    {FaultKind::kSizeMismatch, inject_size_mismatch},
    {FaultKind::kDtypeMismatch, inject_dtype_mismatch},
    {FaultKind::kOrderInversion, inject_order_inversion},
    {FaultKind::kOrderInversionAsync, inject_order_inversion_async},
    {FaultKind::kP2pUnmatched, inject_p2p_unmatched},
    {FaultKind::kP2pDeadlock, inject_p2p_deadlock},
    {FaultKind::kSplitMismatch, inject_split_mismatch},
    {FaultKind::kRankSilent, inject_rank_silent},
    {FaultKind::kTransportStall, inject_transport_stall},
    {FaultKind::kGpuNotProgressing, inject_gpu_not_progressing},
    {FaultKind::kStraggler, inject_straggler},
    {FaultKind::kStaleWatchdog, inject_stale_watchdog},
    {FaultKind::kTruncatedDump, inject_truncated_dump},
    {FaultKind::kGpuXid, inject_gpu_xid},
    {FaultKind::kOomKilled, inject_oom_killed},
    {FaultKind::kProcessExited, inject_process_exited},
    {FaultKind::kLinkDown, inject_link_down},
    {FaultKind::kIbRetry, inject_ib_retry},
    {FaultKind::kBadHost, inject_bad_host},
    {FaultKind::kHostFrozen, inject_host_frozen},
    {FaultKind::kDataloaderBlocked, inject_dataloader_blocked},
    {FaultKind::kInitHang, inject_init_hang},
}};

}  // namespace

void Injection::shows_at(Slot slot, std::size_t work) {
  truth.group = std::to_string(job.layout().group_of(culprit, slot));
  const Program& program = job.program(culprit);
  const Work& stuck = program.works[work];
  const CallId call =
      stuck.is_p2p() ? program.end_calls[static_cast<std::size_t>(stuck.ends[0])] : stuck.call;
  truth.operation = job.calls().recorded(call).profiling_name;
}

base::Result<Truth> inject(Job& job, const Plan& plan) {
  Truth truth;
  truth.plan = plan;
  truth.scenario = info_of(plan.fault).name;
  Random random(hash({plan.seed, 201}));
  const auto drawn = static_cast<std::int32_t>(random.below(static_cast<std::size_t>(plan.ranks)));
  Injection injection{job, plan, truth, random, plan.culprit.value_or(drawn)};
  const auto function = std::find_if(kFunctions.begin(), kFunctions.end(),
                                     [&](const FaultFunction& each) { return each.kind == plan.fault; });
  if (const auto done = function->inject(injection); !done) {
    return base::fail(base::Error(done.error()).with(fmt::format("fault {}", truth.scenario)));
  }
  // With its dump lost nobody can tell what a rank called: that it is the one, and out of step, is as much as
  // there is.
  if (plan.missing && truth.acceptable.front().category == "collective_desync")
    truth.acceptable.push_back({"collective_desync", {}});
  if (truth.culprit_hosts.empty()) {
    const Placement place(plan);
    for (const std::int32_t rank : truth.culprits) truth.culprit_hosts.push_back(place.host_of(rank));
    std::sort(truth.culprit_hosts.begin(), truth.culprit_hosts.end());
    truth.culprit_hosts.erase(std::unique(truth.culprit_hosts.begin(), truth.culprit_hosts.end()),
                              truth.culprit_hosts.end());
  }
  std::sort(truth.culprits.begin(), truth.culprits.end());
  std::sort(truth.injected.begin(), truth.injected.end());
  return truth;
}

}  // namespace unhang::simulate
