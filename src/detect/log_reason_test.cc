// SPDX-License-Identifier: Apache-2.0
#include "detect/log_reason.h"

#include <gtest/gtest.h>

namespace unhang::detect {
namespace {

using model::Category;
using model::Confidence;

model::Case eight_ranks() {
  model::Case joined;
  for (int rank = 0; rank < 8; ++rank) joined.ranks.emplace_back().global_rank = rank;
  return joined;
}

Explanation missing(model::RankIndex rank) {
  Explanation out;
  out.category = Category::kCollectiveDesync;
  out.cause = "rank_silent";
  out.strength = Confidence::kLow;
  out.headline = "rank 5 left no dump";
  out.culprits = {rank};
  return out;
}

Explanation killed(std::int32_t rank) {
  Explanation out;
  out.category = Category::kProcessOrDeviceUnavailable;
  out.cause = "oom_killed";
  out.strength = Confidence::kMedium;
  out.state = model::State::kDead;
  out.headline = "python was killed";
  if (rank >= 0) out.other_culprits.emplace_back().rank = rank;
  return out;
}

TEST(LogReason, TheSameRankInBothIsTwoWitnesses) {
  const auto found = with_reason(eight_ranks(), missing(5), killed(5));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->category, Category::kProcessOrDeviceUnavailable);
  EXPECT_EQ(found->cause, "oom_killed");
  EXPECT_EQ(found->strength, Confidence::kMedium);
  EXPECT_EQ(found->culprits, std::vector<model::RankIndex>{5});
  EXPECT_EQ(found->headline, "python was killed; rank 5 left no dump");
}

TEST(LogReason, WithoutANameItIsAsWeakAsTheWeaker) {
  const auto found = with_reason(eight_ranks(), missing(5), killed(-1));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->strength, Confidence::kLow);
}

TEST(LogReason, AnotherRankIsAnotherMatter) {
  EXPECT_FALSE(with_reason(eight_ranks(), missing(5), killed(3)));
}

TEST(LogReason, WhatIsTentativeOrKnownAlreadyIsNone) {
  Explanation tentative = killed(5);
  tentative.tentative = true;
  EXPECT_FALSE(with_reason(eight_ranks(), missing(5), tentative));
  Explanation known = missing(5);
  known.cause = "op_mismatch";
  EXPECT_FALSE(with_reason(eight_ranks(), known, killed(5)));
}

TEST(LogReason, AnExceptionIsTheRootAndTheCategoryStays) {
  Explanation exception = killed(5);
  exception.category = Category::kNotCommunication;
  exception.cause = "application_error";
  Explanation shown = missing(5);
  shown.cause = "rank_not_entered";
  const auto found = with_reason(eight_ranks(), shown, exception);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->category, Category::kCollectiveDesync);
  EXPECT_EQ(found->cause, "rank_not_entered");
  EXPECT_EQ(found->root, "application_error");
}

TEST(LogReason, ANetworkFaultExplainsWhereEverybodyStands) {
  Explanation link = killed(-1);
  link.category = Category::kTransportStall;
  link.cause = "link_down";
  EXPECT_FALSE(with_reason(eight_ranks(), missing(5), link)) << "it does not explain who is missing";
  Explanation stands = missing(5);
  stands.cause = "unknown";
  stands.category = Category::kTransportStall;
  stands.culprits.clear();
  const auto found = with_reason(eight_ranks(), stands, link);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->cause, "link_down");
}

}  // namespace
}  // namespace unhang::detect
