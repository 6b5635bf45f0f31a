// SPDX-License-Identifier: Apache-2.0
//
// Faults in which every rank calls what it should: trouble of transport, devices, pace, watchdogs and files,
// and none.
#include <algorithm>

#include <fmt/format.h>

#include "simulate/fault.h"

namespace unhang::simulate {
namespace {

const Acceptable kHealthy = {"healthy", {}};

base::Result<> need_nccl(const Injection& in) {
  if (in.job.calls().backend() == Backend::kNccl) return {};
  return base::fail(base::ErrorCode::kUsage, "gloo records no states: use the backend nccl");
}

}  // namespace

base::Result<> inject_none(Injection& in) {
  in.truth.description = "Everything completes.";
  in.truth.acceptable = {kHealthy};
  return {};
}

base::Result<> inject_transport_stall(Injection& in) {
  struct Target {
    Slot slot;
    Role role;
  };
  std::vector<Target> found = {{Slot::kWorld, Role::kWorldTail}};
  if (in.layout().has(Slot::kData)) found.push_back({Slot::kData, Role::kBucket});
  if (in.layout().has(Slot::kTensor)) found.push_back({Slot::kTensor, Role::kLayer});
  const Target target = found[in.random.below(found.size())];
  const Program& program = in.job.program(in.culprit);
  const std::size_t begin = in.fault_begin();
  const std::size_t index =
      program.find(target.role, begin, in.random.below(program.count(target.role, begin))).value();
  const auto before = program.works.begin() + static_cast<std::ptrdiff_t>(index);
  const std::int64_t nth = 1 + std::count_if(program.works.begin(), before,
                                             [&](const Work& work) { return work.slot == target.slot; });
  in.job.stall(in.layout().group_of(in.culprit, target.slot), nth);
  in.shows_at(target.slot, index);
  in.truth.description = fmt::format("All {} ranks of group {} enter {}, and none finishes.",
                                     in.layout().size(target.slot), in.truth.group, in.truth.operation);
  in.truth.acceptable = {{"transport_stall", {}}};
  return {};
}

base::Result<> inject_gpu_not_progressing(Injection& in) {
  if (auto ok = need_nccl(in); !ok) return ok;
  // From the first on, the device reports no end; before the last it stops. Between, its peers finish at
  // least four operations of one group with it: more than a slow watchdog could explain.
  constexpr std::size_t kFinishedByPeers = 4;
  const Program& program = in.job.program(in.culprit);
  const std::size_t begin = in.fault_begin();
  const bool in_layers = in.layout().has(Slot::kTensor) &&
                         program.count(Role::kLayer, begin) > kFinishedByPeers && in.random.below(2) == 0;
  const Role role = in_layers ? Role::kLayer : Role::kWorldTail;
  const std::size_t first = program.find(role, begin).value();
  const std::size_t last = program.find(role, begin, kFinishedByPeers - 1).value() + 1;
  RankControl& control = in.job.control(in.culprit);
  control.unfinished_from = first;
  control.device_stops_before = last;
  in.shows_at(program.works[first].slot, first);
  in.truth.injected = in.truth.culprits = {in.culprit};
  in.truth.description = fmt::format(
      "The device of rank {} stops: from the {} of group {} on it finishes nothing that its peers finish, "
      "while its "
      "host goes on enqueuing.",
      in.culprit, in.truth.operation, in.truth.group);
  in.truth.acceptable = {{"process_or_device_unavailable", {"gpu_not_progressing", "gpu_xid"}}};
  return {};
}

base::Result<> inject_straggler(Injection& in) {
  if (in.plan.only_active) {
    return base::fail(base::ErrorCode::kUsage, "dumps with only active operations show no pace");
  }
  constexpr std::int64_t kMillisecond = 1000000;
  constexpr std::int64_t kEnoughSteps = 5;
  const std::int64_t late = 150 + static_cast<std::int64_t>(in.random.below(100));
  in.job.control(in.culprit).late_ns = late * kMillisecond;
  in.truth.injected = in.truth.culprits = {in.culprit};
  in.truth.description =
      fmt::format("Rank {} comes {} ms late in every step; everything completes.", in.culprit, late);
  in.truth.acceptable = {{"performance_degradation", {"straggler_rank"}}};
  const std::int64_t seen = std::min(static_cast<std::int64_t>(in.job.steps()),
                                     in.plan.entries / in.job.program(in.culprit).entries_per_step());
  const bool gloo = in.job.calls().backend() == Backend::kGloo;
  if (gloo || seen < kEnoughSteps) {  // no completion times, or too short a history
    in.truth.acceptable.push_back(kHealthy);
    in.truth.culprits_exact = false;
    in.truth.may_be_inconclusive = true;
  }
  return {};
}

base::Result<> inject_stale_watchdog(Injection& in) {
  if (auto ok = need_nccl(in); !ok) return ok;
  const std::size_t stale = 1 + in.random.below(2);
  in.job.control(in.culprit).stale = stale;
  in.truth.injected = {in.culprit};
  in.truth.description = fmt::format(
      "No fault: everything completes, but the watchdog of rank {} has not yet noticed it of the last {}.",
      in.culprit, stale == 1 ? "operation" : "two operations");
  in.truth.acceptable = {kHealthy};
  return {};
}

base::Result<> inject_truncated_dump(Injection& in) {
  in.job.control(in.culprit).truncated = true;
  in.truth.injected = {in.culprit};
  in.truth.description =
      fmt::format("No fault: everything completes, but the dump of rank {} is cut off.", in.culprit);
  in.truth.acceptable = {kHealthy};
  in.truth.may_be_inconclusive = true;
  return {};
}

}  // namespace unhang::simulate
