// SPDX-License-Identifier: Apache-2.0
#include "detect/rank_alternatives.h"

#include <gtest/gtest.h>

namespace unhang::detect {
namespace {

using model::Category;
using model::Confidence;

model::Case four_ranks() {
  model::Case joined;
  for (int rank = 0; rank < 4; ++rank) joined.ranks.emplace_back().global_rank = rank;
  return joined;
}

Explanation explanation(Category category, std::string_view cause, Confidence strength,
                        std::vector<model::RankIndex> culprits = {}) {
  Explanation out;
  out.category = category;
  out.cause = cause;
  out.strength = strength;
  out.culprits = std::move(culprits);
  out.headline = std::string(cause) + " it is";
  return out;
}

std::vector<std::string> causes(const std::vector<model::Alternative>& alternatives) {
  std::vector<std::string> out;
  for (const auto& alternative : alternatives) out.emplace_back(alternative.cause);
  return out;
}

TEST(RankAlternatives, AWitnessForTheSameRankIsNoAlternative) {
  const Explanation chosen =
      explanation(Category::kProcessOrDeviceUnavailable, "gpu_xid", Confidence::kHigh, {2});
  const Explanation witness =
      explanation(Category::kCollectiveDesync, "rank_not_entered", Confidence::kMedium, {2});
  const Explanation other =
      explanation(Category::kCollectiveDesync, "rank_not_entered", Confidence::kMedium, {3});
  EXPECT_TRUE(rank_alternatives(four_ranks(), chosen, {&witness}).empty());
  const auto found = rank_alternatives(four_ranks(), chosen, {&witness, &other});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].speaks_against, (std::vector<std::string>{"the others wait for rank 2, not for rank 3",
                                                               "its evidence is weaker (medium)"}));
  EXPECT_NE(found[0].decide_by, "");
}

TEST(RankAlternatives, TheStrongerComesFirstAndEachOnce) {
  Explanation chosen = explanation(Category::kCollectiveDesync, "rank_not_entered", Confidence::kMedium, {2});
  chosen.rules_out = {"transport: the operation cannot start before all have entered it"};
  const Explanation weak = explanation(Category::kNotCommunication, "cuda_oom", Confidence::kLow);
  const Explanation link = explanation(Category::kTransportStall, "link_down", Confidence::kMedium);
  const Explanation again = explanation(Category::kTransportStall, "link_down", Confidence::kLow);
  const Explanation vague = explanation(Category::kInconclusive, "unknown", Confidence::kLow);
  const auto found = rank_alternatives(four_ranks(), chosen, {&weak, &link, &again, &vague});
  EXPECT_EQ(causes(found), (std::vector<std::string>{"link_down", "cuda_oom"}));
  EXPECT_EQ(found[0].speaks_against.front(),
            "transport: the operation cannot start before all have entered it");
}

}  // namespace
}  // namespace unhang::detect
