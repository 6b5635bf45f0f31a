// SPDX-License-Identifier: Apache-2.0
#include "detect/ras_progress.h"

#include <gtest/gtest.h>

#include "detect/ras_view_for_tests.h"

namespace unhang::detect {
namespace {

using fixture::communicator;
using fixture::set_count;
using fixture::view;
using model::RasCollective;
using Ranks = std::vector<std::int32_t>;

constexpr std::int64_t kSecond = 1'000'000'000;

TEST(RasSkew, TheMajorityIsUsualWhicheverSideIsSmaller) {
  auto c = communicator(1, 8, 100);
  set_count(c, 5, RasCollective::kAllReduce, 99);
  EXPECT_EQ(skew_of(c).laggards, Ranks{5});
  EXPECT_TRUE(skew_of(c).leaders.empty());

  auto ahead = communicator(1, 32, 640);
  set_count(ahead, 3, RasCollective::kAllReduce, 641);
  set_count(ahead, 4, RasCollective::kAllReduce, 641);
  EXPECT_TRUE(skew_of(ahead).laggards.empty());
  EXPECT_EQ(skew_of(ahead).leaders, (Ranks{3, 4}));
}

TEST(RasSkew, ATieIsSaidToBeOne) {
  auto c = communicator(1, 4, 100);
  set_count(c, 0, RasCollective::kAllReduce, 99);
  set_count(c, 1, RasCollective::kAllReduce, 99);
  const RasSkew skew = skew_of(c);
  EXPECT_TRUE(skew.tie);
  EXPECT_EQ(skew.laggards, (Ranks{0, 1}));
  EXPECT_EQ(skew.counts.at(0).majority, 100u);
}

TEST(RasSkew, BehindInOneAndAheadInAnotherIsAnotherOperation) {
  auto c = communicator(1, 8, 100);
  set_count(c, 3, RasCollective::kAllReduce, 99);
  set_count(c, 3, RasCollective::kAllGather, 1);
  const RasSkew skew = skew_of(c);
  EXPECT_EQ(skew.other_operation, Ranks{3});
  EXPECT_TRUE(skew.laggards.empty());
  EXPECT_TRUE(skew.leaders.empty());
}

TEST(RasSkew, BehindInTwoCollectivesIsALag) {
  auto c = communicator(1, 8, 100);
  for (auto& rank : c.ranks) rank.counts[static_cast<std::size_t>(RasCollective::kAllGather)] = 7;
  set_count(c, 3, RasCollective::kAllReduce, 99);
  set_count(c, 3, RasCollective::kAllGather, 6);
  EXPECT_EQ(skew_of(c).laggards, Ranks{3});
}

TEST(RasSkew, RanksThatAreMadeOrTornDownDoNotCount) {
  auto c = communicator(1, 4, 100);
  set_count(c, 2, RasCollective::kAllReduce, 0);
  c.ranks[2].status = model::RasStatus::kFinalize;
  EXPECT_TRUE(skew_of(c).counts.empty());
}

TEST(RasSkew, WhatTextDoesNotNameIsCounted) {
  model::RasCommunicator c;
  c.size = 16;
  c.shares = {{.collective = RasCollective::kAllReduce, .count = 100, .status = {}, .ranks = 11, .named = {}},
              {.collective = RasCollective::kAllReduce, .count = 99, .status = {}, .ranks = 5, .named = {}}};
  const RasSkew skew = skew_of(c);
  ASSERT_EQ(skew.counts.size(), 1u);
  EXPECT_EQ(skew.counts[0].unnamed_laggards, 5u);
  EXPECT_EQ(skew.counts[0].majority, 100u);
  EXPECT_TRUE(skew.laggards.empty());
}

RasCommunicatorProgress after(RasProgress& progress, std::optional<bool> in_flight = {}) {
  const auto state = progress.state(in_flight);
  EXPECT_EQ(state.size(), 1u);
  return state.at(0);
}

TEST(RasProgress, OneAnswerShowsNoMovement) {
  RasProgress progress;
  progress.observe(view({communicator(1, 4, 10)}), 0);
  EXPECT_EQ(after(progress).movement, Movement::kUnknown);
  EXPECT_NE(after(progress).why.find("one answer"), std::string::npos);
}

TEST(RasProgress, GrowthIsAdvancing) {
  RasProgress progress;
  progress.observe(view({communicator(1, 4, 10)}), 0);
  progress.observe(view({communicator(1, 4, 11)}), 2 * kSecond);
  EXPECT_EQ(after(progress).movement, Movement::kAdvancing);
  EXPECT_EQ(after(progress).last_moved_ns, 2 * kSecond);
  for (const auto& [rank, movement] : after(progress).ranks)
    EXPECT_EQ(movement, Movement::kAdvancing) << rank;
}

TEST(RasProgress, EqualAndStandingIsUnknownWithoutASecondSignal) {
  RasProgress progress;
  for (int i = 0; i <= 10; ++i) progress.observe(view({communicator(1, 4, 10)}), i * kSecond);
  EXPECT_EQ(after(progress).movement, Movement::kUnknown);
  EXPECT_NE(after(progress).why.find("cannot tell"), std::string::npos);
  EXPECT_EQ(after(progress, true).movement, Movement::kFrozen);
  EXPECT_EQ(after(progress, false).movement, Movement::kIdle);
}

TEST(RasProgress, TimeDecidesAndNotTheNumberOfPolls) {
  auto c = communicator(1, 4, 10);
  set_count(c, 2, RasCollective::kAllReduce, 9);
  RasProgress often, seldom;
  for (int i = 0; i < 100; ++i) often.observe(view({c}), i * kSecond / 100);
  EXPECT_EQ(after(often).movement, Movement::kUnknown);  // a hundred polls within one second
  seldom.observe(view({c}), 0);
  seldom.observe(view({c}), 60 * kSecond);
  EXPECT_EQ(after(seldom).movement, Movement::kFrozen);
  EXPECT_EQ(after(seldom).frozen_laggards, Ranks{2});
  EXPECT_EQ(after(seldom).lag_since_ns, 0);
}

TEST(RasProgress, ARankInOnlyOneAnswerIsUnknownAndNotFrozen) {
  auto without = communicator(1, 4, 10);
  without.ranks.erase(without.ranks.begin() + 2);
  auto with = communicator(1, 4, 10);
  set_count(with, 2, RasCollective::kAllReduce, 9);
  RasProgress progress;
  progress.observe(view({without}), 0);
  progress.observe(view({without}), 60 * kSecond);
  progress.observe(view({with}), 61 * kSecond);
  const auto state = after(progress);
  EXPECT_EQ(state.ranks.at(2), std::pair(2, Movement::kUnknown));
  EXPECT_TRUE(state.frozen_laggards.empty());
}

TEST(RasProgress, ALaggardThatMovesLagsOnly) {
  RasProgress progress;
  for (int i = 0; i <= 10; ++i) {
    auto c = communicator(1, 4, 10 + static_cast<std::uint64_t>(i));
    set_count(c, 2, RasCollective::kAllReduce, 9 + static_cast<std::uint64_t>(i));
    progress.observe(view({c}), i * kSecond);
  }
  EXPECT_EQ(after(progress).movement, Movement::kAdvancing);
  EXPECT_EQ(after(progress).ranks.at(2), std::pair(2, Movement::kLagging));
  EXPECT_EQ(after(progress).skew.laggards, Ranks{2});
}

TEST(RasProgress, FallingCountsAreAnotherCommunicator) {
  RasProgress progress;
  for (int i = 0; i <= 10; ++i) progress.observe(view({communicator(1, 4, 10)}), i * kSecond);
  progress.observe(view({communicator(1, 4, 2)}), 11 * kSecond);
  EXPECT_EQ(after(progress, true).movement, Movement::kUnknown);
  EXPECT_EQ(after(progress).watched_since_ns, 11 * kSecond);
}

}  // namespace
}  // namespace unhang::detect
