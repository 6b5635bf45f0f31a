// SPDX-License-Identifier: Apache-2.0
//
// Faults in which the host of a rank stops: it never makes the next call.
#include <algorithm>

#include <fmt/format.h>

#include "base/rank_set.h"
#include "simulate/fault.h"

namespace unhang::simulate {
namespace {

const Acceptable kNotEntered = {"collective_desync", {"rank_not_entered"}};
const Acceptable kNeverJoined = {"initialization_hang", {"rank_never_joined"}};

std::size_t world_work(Injection& in) {
  const Program& program = in.job.program(in.culprit);
  const std::size_t begin = in.fault_begin();
  return program.find(Role::kWorldTail, begin, in.random.below(program.count(Role::kWorldTail, begin)))
      .value();
}

void stop(Injection& in, std::int32_t rank, std::size_t before) {
  in.job.control(rank).host_stops_before = before;
  in.truth.culprits.push_back(rank);
  in.truth.injected.push_back(rank);
}

}  // namespace

base::Result<> inject_rank_not_entered(Injection& in) {
  const std::size_t before = world_work(in);
  stop(in, in.culprit, before);
  in.shows_at(Slot::kWorld, before);
  in.truth.description =
      fmt::format("Rank {} stops on its host and never calls the {} of the world that all others wait in.",
                  in.culprit, in.truth.operation);
  in.truth.acceptable = {kNotEntered};
  return {};
}

base::Result<> inject_rank0_not_entered(Injection& in) {
  if (in.plan.culprit.value_or(0) != 0) {
    return base::fail(base::ErrorCode::kUsage,
                      "its culprit is always rank 0; use rank_not_entered for another rank");
  }
  in.culprit = 0;
  return inject_rank_not_entered(in);
}

base::Result<> inject_several_not_entered(Injection& in) {
  const std::int32_t ranks = in.layout().ranks();
  // With fewer, those who stop would be half of the job, and nobody could say which half is wrong.
  if (ranks < 5) return base::fail(base::ErrorCode::kUsage, "needs at least 5 ranks");
  const auto count = static_cast<std::size_t>(std::clamp((ranks - 1) / 3, 2, 3));
  std::vector<std::int32_t> chosen = {in.culprit};
  while (chosen.size() < count) {
    const auto rank = static_cast<std::int32_t>(in.random.below(static_cast<std::size_t>(ranks)));
    if (std::find(chosen.begin(), chosen.end(), rank) == chosen.end()) chosen.push_back(rank);
  }
  const std::size_t nth =
      in.random.below(in.job.program(in.culprit).count(Role::kWorldTail, in.fault_begin()));
  for (const std::int32_t rank : chosen) {
    const Program& program = in.job.program(rank);
    const std::size_t before =
        program.find(Role::kWorldTail, program.step_begin(in.job.steps() - 1), nth).value();
    stop(in, rank, before);
    if (rank == in.culprit) in.shows_at(Slot::kWorld, before);
  }
  in.truth.description =
      fmt::format("Ranks {} stop on their hosts and never call the {} of the world that all others wait in.",
                  base::fold_ranks(chosen), in.truth.operation);
  in.truth.acceptable = {kNotEntered};
  return {};
}

base::Result<> inject_subgroup_not_entered(Injection& in) {
  if (!in.layout().has(Slot::kTensor))
    return base::fail(base::ErrorCode::kUsage, "needs tensor-parallel groups: tp >= 2");
  const Program& program = in.job.program(in.culprit);
  const std::size_t begin = in.fault_begin();
  const std::size_t before =
      program.find(Role::kLayer, begin, in.random.below(program.count(Role::kLayer, begin))).value();
  stop(in, in.culprit, before);
  in.shows_at(Slot::kTensor, before);
  in.truth.description = fmt::format(
      "Rank {} stops on its host before the {} of tensor-parallel group {}; all other groups only wait.",
      in.culprit, in.truth.operation, in.truth.group);
  in.truth.acceptable = {kNotEntered};
  return {};
}

base::Result<> inject_never_joined(Injection& in) {
  stop(in, in.culprit, 0);
  in.shows_at(Slot::kWorld, 0);
  in.truth.description = fmt::format("Rank {} never calls the first operation of the job.", in.culprit);
  in.truth.acceptable = {kNeverJoined, kNotEntered};
  return {};
}

base::Result<> inject_rank_silent(Injection& in) {
  const std::size_t before = world_work(in);
  stop(in, in.culprit, before);
  in.job.control(in.culprit).silent = true;
  in.truth.happenings.push_back({.kind = Happening::Kind::kVanished, .rank = in.culprit});
  in.shows_at(Slot::kWorld, before);
  in.truth.description = fmt::format("Rank {} dies before the {} of the world and leaves no dump.",
                                     in.culprit, in.truth.operation);
  in.truth.acceptable = {{"process_or_device_unavailable", {"rank_silent"}}, kNotEntered};
  // RAS tells that the process is gone.
  if (in.plan.has(kRas)) in.truth.acceptable.front().causes.emplace_back("process_exited");
  in.truth.may_be_inconclusive = true;
  return {};
}

}  // namespace unhang::simulate
