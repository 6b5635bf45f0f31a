// SPDX-License-Identifier: Apache-2.0
//
// What completed numbers of some members say about the others: of operations that some may finish before all
// have come, of numbers that are only assigned by order, and of numbers that nobody can have reached.
#include <limits>

#include <gtest/gtest.h>

#include "detect/case_builder_for_tests.h"
#include "detect/resolve.h"

namespace unhang::detect {
namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

// Half are through a broadcast, one stands in it, one has not come: that one is the cause.
TEST(EarlyFinishers, OneThatNeverEnteredIsTheRoot) {
  for (const char* name : {"broadcast", "reduce"}) {
    for (const int rounds : {1, 4}) {
      CaseBuilder c(4);
      const auto world = c.group("0", "default_pg", {0, 1, 2, 3});
      c.done(world, "all_reduce");
      for (int i = 0; i < rounds; ++i) c.done(world, name, std::vector<model::RankIndex>{0, 1});
      c.open(world, name, {2});
      EXPECT_EQ(summary(c.run(find_not_entered)), "collective_desync/rank_not_entered high 3") << name;
      EXPECT_EQ(summary(c.run(find_stale_watchdog)), "nothing") << name;
      EXPECT_EQ(summary(c.run(find_stopped_device)), "nothing") << name;
    }
  }
}

// Where all have come and half are through, the rest is on paper only, as with any collective.
TEST(EarlyFinishers, AllEnteredIsOnPaperOnly) {
  CaseBuilder c(4);
  const auto world = c.group("0", "default_pg", {0, 1, 2, 3});
  c.same_time()
      .done(world, "broadcast", std::vector<model::RankIndex>{0, 1})
      .open(world, "broadcast", {2, 3});
  const GroupProgress progress = trace_group(c.joined(), world);
  EXPECT_EQ(progress.members[2].lag, Lag::kStaleWatchdog);
  EXPECT_EQ(progress.members[3].lag, Lag::kStaleWatchdog);
  EXPECT_EQ(summary(c.run(find_not_entered)), "nothing");
}

// Ranks 0 and 1 stand in the fourth collective; of ranks 2 and 3 only pg_status is known.
model::Case with_status(std::int64_t number, bool inferred,
                        const std::vector<model::RankIndex>& told = {2, 3}, int done = 3) {
  CaseBuilder c(4);
  const auto world = c.group("0", "default_pg", {0, 1, 2, 3});
  for (int i = 0; i < done; ++i) c.done(world, "all_reduce");
  c.open(world, "all_reduce", {0, 1});
  model::Case joined = c.take();
  for (const model::RankIndex rank : told) {
    model::Lane& lane = joined.ranks[rank].lanes.front();
    lane.last_enqueued = lane.last_completed = number;
    lane.status_inferred = inferred;
  }
  return joined;
}

// Numbers that were assigned to the group by order accuse nobody's device; known ones do.
TEST(AssignedNumbers, NeverStopADevice) {
  const model::Case assigned = with_status(12, true);
  const GroupProgress progress = trace_group(assigned, 0);
  EXPECT_EQ(progress.members[0].lag, Lag::kNone);
  EXPECT_EQ(progress.members[1].lag, Lag::kNone);
  EXPECT_EQ(summary(find_stopped_device(analyse(assigned))), "nothing");
  const model::Case known = with_status(12, false);
  EXPECT_EQ(trace_group(known, 0).members[0].lag, Lag::kDeviceStopped);
  EXPECT_EQ(trace_group(known, 0).members[0].operations_behind, 9);
}

// They are good enough to excuse a watchdog that has not looked yet.
TEST(AssignedNumbers, ExcuseAWatchdog) {
  const model::Case assigned = with_status(5, true);
  EXPECT_EQ(trace_group(assigned, 0).members[0].lag, Lag::kStaleWatchdog);
  EXPECT_EQ(trace_group(assigned, 0).members[0].operations_behind, 2);
  EXPECT_EQ(trace_group(assigned, 0).members[0].head, std::nullopt);
}

// One damaged number: nobody else has entered as far, so it cannot have been completed.
TEST(ImpossibleNumbers, AreBoundedByWhatTheOthersEntered) {
  const model::Case joined = with_status(kMost, false, {3});
  const GroupProgress progress = trace_group(joined, 0);
  EXPECT_EQ(progress.completed, 4);
  EXPECT_EQ(progress.members[3].completed, 4);
  for (const MemberProgress& member : progress.members) EXPECT_NE(member.lag, Lag::kDeviceStopped);
  EXPECT_EQ(summary(find_stopped_device(analyse(joined))), "nothing");
}

// Two damaged numbers, and numbering from 0: counting how far behind does not overflow.
TEST(ImpossibleNumbers, DoNotOverflow) {
  model::Case joined = with_status(kMost, false, {2, 3}, 0);
  for (const model::RankIndex rank : {0u, 1u}) {
    joined.ranks[rank].operations.front().collective_sequence = 0;
    joined.ranks[rank].lanes.front().last_enqueued = 0;
  }
  for (const bool assigned : {false, true}) {
    for (const model::RankIndex rank : {2u, 3u}) joined.ranks[rank].lanes.front().status_inferred = assigned;
    const GroupProgress progress = trace_group(joined, 0);
    EXPECT_GE(progress.members[0].operations_behind, 0);
    EXPECT_EQ(progress.members[0].lag, assigned ? Lag::kNone : Lag::kDeviceStopped);
  }
}

}  // namespace
}  // namespace unhang::detect
