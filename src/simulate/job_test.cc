// SPDX-License-Identifier: Apache-2.0
#include "simulate/job.h"

#include <algorithm>
#include <array>

#include <gtest/gtest.h>

#include "simulate/test_job.h"

namespace unhang::simulate {
namespace {

Plan plan_of(std::int32_t ranks, std::int32_t tp, std::int32_t pp, FaultKind fault = FaultKind::kNone) {
  Plan plan;
  plan.ranks = ranks;
  plan.tp = tp;
  plan.pp = pp;
  plan.fault = fault;
  return plan;
}

const std::array<std::array<std::int32_t, 3>, 8> kLayouts = {
    {{2, 1, 1}, {2, 2, 1}, {2, 1, 2}, {4, 1, 4}, {8, 2, 2}, {12, 3, 2}, {8, 8, 1}, {24, 2, 4}}};

TEST(Job, WithoutFaultFinishesEverythingOnEveryLayout) {
  for (const auto& [ranks, tp, pp] : kLayouts) {
    const TestJob made = run_job(plan_of(ranks, tp, pp));
    for (std::int32_t rank = 0; rank < ranks; ++rank) {
      const std::size_t size = made.job.program(rank).works.size();
      ASSERT_EQ(made.job.called(rank), size) << ranks << ' ' << tp << ' ' << pp << " rank " << rank;
      EXPECT_NE(made.job.times(rank, size - 1).finished, 0)
          << ranks << ' ' << tp << ' ' << pp << " rank " << rank;
    }
  }
}

TEST(Job, TimesFollowTheOrderOfHostAndDevice) {
  const TestJob made = run_job(plan_of(8, 2, 2));
  for (std::int32_t rank = 0; rank < 8; ++rank) {
    const auto& works = made.job.program(rank).works;
    for (std::size_t i = 0; i < works.size(); ++i) {
      const WorkTimes& now = made.job.times(rank, i);
      EXPECT_LT(now.created, now.begun);
      EXPECT_LT(now.begun, now.finished);
      if (i == 0) continue;
      EXPECT_LT(made.job.times(rank, i - 1).created, now.created);
      EXPECT_LT(made.job.times(rank, i - 1).finished, now.begun);
      if (works[i - 1].host_waits) {
        EXPECT_LT(made.job.times(rank, i - 1).finished, now.created);
      }
      if (i >= 6) {
        EXPECT_LT(made.job.times(rank, i - 6).finished, now.created);
      }
    }
  }
}

TEST(Job, ACollectiveEndsForAllAfterItsLastMemberBegan) {
  const TestJob made = run_job(plan_of(6, 1, 1));
  const std::size_t size = made.job.program(0).works.size();
  for (std::size_t i = 0; i < size; ++i) {
    std::int64_t latest = 0;
    std::int64_t first_end = made.job.times(0, i).finished;
    std::int64_t last_end = 0;
    for (std::int32_t rank = 0; rank < 6; ++rank) {
      latest = std::max(latest, made.job.times(rank, i).begun);
      first_end = std::min(first_end, made.job.times(rank, i).finished);
      last_end = std::max(last_end, made.job.times(rank, i).finished);
    }
    EXPECT_GT(first_end, latest);
    EXPECT_LT(last_end - first_end, 15000);
  }
}

// Every rank that is stuck waits for a member of its group that has not begun the same operation. Followed
// from anywhere, the waiting ends at the culprit.
TEST(Job, EveryoneStuckWaitsInTheEndForTheRankThatStopped) {
  for (const auto& [ranks, tp, pp] : kLayouts) {
    if (tp == 1) continue;
    Plan plan = plan_of(ranks, tp, pp, FaultKind::kSubgroupNotEntered);
    for (plan.seed = 1; plan.seed <= 8; ++plan.seed) {
      const TestJob made = run_job(plan);
      const Job& job = made.job;
      const std::int32_t culprit = made.truth.culprits.at(0);
      // Of each rank the work it is stuck in, as the number of calls that it has finished in each of its
      // groups.
      const auto stuck_at = [&](std::int32_t rank) {
        std::size_t i = 0;
        while (i < job.called(rank) && job.times(rank, i).finished != 0) ++i;
        return i;
      };
      for (std::int32_t rank = 0; rank < ranks; ++rank) {
        std::int32_t at = rank;
        int hops = 0;
        for (; at != culprit && hops <= ranks; ++hops) {
          const std::size_t work_index = stuck_at(at);
          ASSERT_LT(work_index, job.called(at)) << "rank " << at << " is not stuck";
          const Work& work = job.program(at).works[work_index];
          std::int32_t waits_for = -1;
          if (work.is_p2p()) {
            for (std::size_t e = 0; e < work.inner && waits_for < 0; ++e) {
              const bool next = work.ends[e] == End::kSendNext || work.ends[e] == End::kRecvNext;
              waits_for = next ? job.layout().next_stage(at) : job.layout().previous_stage(at);
            }
          } else {
            for (const std::int32_t member : job.layout().members(at, work.slot)) {
              const std::size_t theirs = stuck_at(member);
              const bool inside = theirs < job.called(member) &&
                                  job.program(member).works[theirs].slot == work.slot &&
                                  job.times(member, theirs).begun != 0;
              if (!inside) waits_for = member;
            }
          }
          ASSERT_GE(waits_for, 0) << "rank " << at << " is stuck although all of its group are inside";
          at = waits_for;
        }
        EXPECT_EQ(at, culprit) << ranks << ' ' << tp << ' ' << pp << " seed " << plan.seed << " from rank "
                               << rank;
      }
    }
  }
}

TEST(Job, AStalledOperationKeepsAllOfItsGroupInside) {
  Plan plan = plan_of(8, 2, 2, FaultKind::kTransportStall);
  for (plan.seed = 1; plan.seed <= 12; ++plan.seed) {
    const TestJob made = run_job(plan);
    EXPECT_TRUE(made.truth.culprits.empty());
    std::int32_t inside = 0;
    std::int32_t size = 0;
    for (std::int32_t rank = 0; rank < plan.ranks; ++rank) {
      for (const Slot slot : kSlots) {
        if (std::to_string(made.job.layout().group_of(rank, slot)) != made.truth.group) continue;
        size = made.job.layout().size(slot);
        std::size_t i = 0;
        while (made.job.times(rank, i).finished != 0) ++i;
        const Work& work = made.job.program(rank).works[i];
        inside += work.slot == slot && made.job.times(rank, i).begun != 0 ? 1 : 0;
      }
    }
    EXPECT_EQ(inside, size) << plan.seed;
  }
}

TEST(Job, TheSameSeedGivesTheSameTimesAndAnotherOneDoesNot) {
  Plan plan = plan_of(4, 2, 1);
  const TestJob first = run_job(plan);
  const TestJob again = run_job(plan);
  plan.seed = 2;
  const TestJob other = run_job(plan);
  EXPECT_EQ(first.job.times(3, 20).finished, again.job.times(3, 20).finished);
  EXPECT_NE(first.job.times(3, 20).finished, other.job.times(3, 20).finished);
}

}  // namespace
}  // namespace unhang::simulate
