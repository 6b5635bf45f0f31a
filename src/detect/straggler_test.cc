// SPDX-License-Identifier: Apache-2.0
//
// Who is late again and again, and what only looks like it: clocks that differ between hosts.
#include <algorithm>

#include <gtest/gtest.h>

#include "detect/case_builder_for_tests.h"
#include "detect/iterations.h"

namespace unhang::detect {
namespace {

constexpr std::int64_t kMs = CaseBuilder::kMillisecond;

// Four ranks, 40 rounds of 30 ms. `late(round, rank)` in ms; everybody completes when the last one has come,
// and notices it up to a polling period later.
template <class Late>
std::vector<Explanation> stragglers(Late&& late, std::vector<std::int64_t> clock_ahead_ms = {0, 0, 0, 0}) {
  CaseBuilder c(4);
  const auto world = c.group("0", "default_pg", {0, 1, 2, 3});
  for (model::RankIndex rank = 0; rank < 4; ++rank)
    c.host(rank, "node" + std::to_string(rank), clock_ahead_ms[rank] * kMs);
  for (int round = 0; round < 40; ++round) {
    std::int64_t last = 0;
    for (model::RankIndex rank = 0; rank < 4; ++rank)
      last = std::max<std::int64_t>(last, late(round, rank) * kMs);
    c.same_time();
    for (model::RankIndex rank = 0; rank < 4; ++rank) {
      const std::int64_t noticed = last + kMs + (round * 7 + static_cast<int>(rank) * 3) % 5 * kMs / 5;
      c.done(world, "all_reduce", {rank},
             {.late_ns = late(round, rank) * kMs + round * 7 % 3 * kMs / 10, .completed_after_ns = noticed});
    }
    c.end_line(30 * kMs + last);
  }
  return c.run(find_straggler);
}

TEST(Straggler, LateEveryTime) {
  for (const model::RankIndex slow : {0u, 2u}) {
    const auto found = stragglers([&](int, model::RankIndex rank) { return rank == slow ? 50 : 0; });
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].cause, "straggler_rank");
    EXPECT_EQ(found[0].category, model::Category::kPerformanceDegradation);
    EXPECT_EQ(found[0].state, model::State::kSlow);
    EXPECT_EQ(found[0].culprits, (std::vector<model::RankIndex>{slow}));
    EXPECT_NE(found[0].strength, model::Confidence::kLow);
  }
}

TEST(Straggler, LateForAWhile) {
  const auto found = stragglers(
      [](int round, model::RankIndex rank) { return rank == 1 && round >= 8 && round < 26 ? 60 : 0; });
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].culprits, (std::vector<model::RankIndex>{1}));
}

TEST(Straggler, NobodyIsLate) {
  EXPECT_EQ(summary(stragglers([](int, model::RankIndex) { return 0; })), "nothing");
}

// A clock that is ahead shifts calls and completions alike.
TEST(Straggler, AClockAheadIsNone) {
  for (const std::int64_t ahead : {40, 400, -400}) {
    EXPECT_EQ(summary(stragglers([](int, model::RankIndex) { return 0; }, {0, 0, ahead, 0})), "nothing")
        << ahead;
  }
}

TEST(Straggler, IsFoundBehindItsClock) {
  for (const std::int64_t ahead : {-300, 300}) {
    const auto found =
        stragglers([](int, model::RankIndex rank) { return rank == 2 ? 50 : 0; }, {0, 0, ahead, 7});
    ASSERT_EQ(found.size(), 1u) << ahead;
    EXPECT_EQ(found[0].culprits, (std::vector<model::RankIndex>{2})) << ahead;
  }
}

// Each is late in turn: nobody in particular is.
TEST(Straggler, EverybodyInTurnIsNone) {
  EXPECT_EQ(summary(stragglers([](int round, model::RankIndex rank) {
              return round % 4 == static_cast<int>(rank) ? 50 : 0;
            })),
            "nothing");
}

TEST(Straggler, OneLateCallIsChance) {
  EXPECT_EQ(summary(stragglers(
                [](int round, model::RankIndex rank) { return round == 20 && rank == 3 ? 900 : 0; })),
            "nothing");
}

TEST(Straggler, NotOfAJobThatStands) {
  CaseBuilder c(4);
  const auto world = c.group("0", "default_pg", {0, 1, 2, 3});
  for (int round = 0; round < 40; ++round) {
    c.same_time().done(world, "all_reduce", std::vector<model::RankIndex>{0, 1, 2},
                       {.completed_after_ns = 51 * kMs});
    c.done(world, "all_reduce", std::vector<model::RankIndex>{3},
           {.late_ns = 50 * kMs, .completed_after_ns = 51 * kMs})
        .end_line(80 * kMs);
  }
  c.open(world, "all_reduce", {0, 1, 2});
  EXPECT_EQ(summary(c.run(find_straggler)), "nothing");
}

TEST(Iterations, PeriodIsFoundAndTheBeginningIgnored) {
  CaseBuilder c(2);
  const auto world = c.group("0", "default_pg", {0, 1});
  c.done(world, "broadcast").done(world, "barrier");  // sequence 1 and 2: set-up
  for (int step = 0; step < 5; ++step)
    c.done(world, "all_gather").done(world, "reduce_scatter").done(world, "all_reduce");
  const auto period = find_period(c.joined(), world);
  ASSERT_TRUE(period.has_value());
  EXPECT_EQ(period->length, 3);
  EXPECT_EQ(period->first_sequence, 3);
  EXPECT_EQ(period->iteration(2), std::nullopt);
  EXPECT_EQ(period->iteration(3), 0);
  EXPECT_EQ(period->iteration(5), 0);
  EXPECT_EQ(period->iteration(17), 4);
}

TEST(Iterations, NoPeriod) {
  CaseBuilder alike(2);
  const auto a = alike.group("0", "default_pg", {0, 1});
  for (int i = 0; i < 20; ++i) alike.done(a, "all_reduce");
  EXPECT_FALSE(find_period(alike.joined(), a).has_value());

  CaseBuilder twice(2);
  const auto b = twice.group("0", "default_pg", {0, 1});
  for (int i = 0; i < 2; ++i) twice.done(b, "all_gather").done(b, "all_reduce").done(b, "barrier");
  EXPECT_FALSE(find_period(twice.joined(), b).has_value());

  CaseBuilder growing(2);
  const auto d = growing.group("0", "default_pg", {0, 1});
  for (int i = 1; i < 20; ++i) growing.done(d, "all_reduce", elements(i));
  EXPECT_FALSE(find_period(growing.joined(), d).has_value());
}

// Sizes of an all_to_all change with the data; the step is the same.
TEST(Iterations, AllToAllOfAnySize) {
  CaseBuilder c(2);
  const auto world = c.group("0", "default_pg", {0, 1});
  for (int step = 0; step < 4; ++step)
    c.done(world, "all_to_all", elements(100 + step)).done(world, "all_reduce");
  const auto period = find_period(c.joined(), world);
  ASSERT_TRUE(period.has_value());
  EXPECT_EQ(period->length, 2);
}

}  // namespace
}  // namespace unhang::detect
