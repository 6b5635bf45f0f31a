// SPDX-License-Identifier: Apache-2.0
//
// gloo declares no subgroups: their members are those who recorded something in them. Who is missing there is
// not known, and nothing may be said as if it were.
#include <gtest/gtest.h>

#include "detect/case_builder_for_tests.h"
#include "detect/resolve.h"

namespace unhang::detect {
namespace {

// Ranks 0 and 1 stand in a subgroup of a job of `ranks`; the others have finished all they did.
struct Subgroup {
  explicit Subgroup(int ranks) : c(ranks) {
    std::vector<model::RankIndex> all;
    for (int rank = 0; rank < ranks; ++rank) all.push_back(static_cast<model::RankIndex>(rank));
    world = c.group("0", "default_pg", all, "gloo");
    pair = c.group("1", "", {0, 1}, "gloo");
    c.inferred(world).inferred(pair).done(world, "barrier").done(pair, "all_reduce");
    c.open(pair, "all_reduce", {0, 1});
  }
  Explanation only() {
    auto found = c.run(find_symmetric_stall);
    EXPECT_EQ(found.size(), 1u);
    return found.at(0);
  }
  CaseBuilder c;
  model::GroupIndex world = 0, pair = 0;
};

bool says_everyone_entered(const Explanation& explanation) {
  if (explanation.headline.find(" entered ") != std::string::npos) return true;
  return std::any_of(explanation.rules_out.begin(), explanation.rules_out.end(), [](const std::string& text) {
    return text.find("everyone entered") != std::string::npos;
  });
}

TEST(UncertainMembers, OnlyOfInferredGroupsThatDoNotSpanTheJob) {
  Subgroup s(4);
  const auto declared = s.c.group("2", "", {0, 1}, "gloo");
  EXPECT_TRUE(members_certain(s.c.joined(), s.world));
  EXPECT_FALSE(members_certain(s.c.joined(), s.pair));
  EXPECT_TRUE(members_certain(s.c.joined(), declared));
}

TEST(UncertainMembers, RankWithoutADumpIsTheFirstGuess) {
  Subgroup s(4);
  s.c.silent(3);
  EXPECT_EQ(summary(s.c.run(find_symmetric_stall)), "process_or_device_unavailable/rank_silent low 3");
  EXPECT_FALSE(says_everyone_entered(s.only()));
  const model::Verdict verdict = diagnose(s.c.joined());
  EXPECT_EQ(verdict.cause, "rank_silent");
  EXPECT_EQ(verdict.confidence, model::Confidence::kLow);
}

// A dump that was cut does not tell whether its rank is idle.
TEST(UncertainMembers, CutDumpCountsAsNone) {
  Subgroup s(4);
  s.c.done(s.world, "barrier").cut(2, 1);
  EXPECT_EQ(summary(s.c.run(find_symmetric_stall)), "process_or_device_unavailable/rank_silent low 2");
}

TEST(UncertainMembers, TheOnlyIdleRank) {
  Subgroup s(3);
  EXPECT_EQ(summary(s.c.run(find_symmetric_stall)), "collective_desync/rank_not_entered low 2");
  EXPECT_FALSE(says_everyone_entered(s.only()));
}

TEST(UncertainMembers, SeveralIdleRanksAreSuspects) {
  Subgroup s(4);
  const Explanation explanation = s.only();
  EXPECT_EQ(summary({explanation}), "inconclusive/unknown low");
  EXPECT_EQ(explanation.suspects, (std::vector<model::RankIndex>{2, 3}));
  EXPECT_FALSE(says_everyone_entered(explanation));
  const model::Verdict verdict = diagnose(s.c.joined());
  EXPECT_EQ(verdict.category, model::Category::kInconclusive);
  EXPECT_TRUE(verdict.culprits.empty());
  EXPECT_EQ(verdict.suspects.size(), 2u);
}

TEST(UncertainMembers, SeveralWithoutADumpAreSuspects) {
  Subgroup s(5);
  s.c.silent(3).silent(4);
  const Explanation explanation = s.only();
  EXPECT_EQ(summary({explanation}), "inconclusive/unknown low");
  EXPECT_EQ(explanation.suspects, (std::vector<model::RankIndex>{3, 4}));
}

// Nobody is left who could be missing: all others stand somewhere themselves.
TEST(UncertainMembers, NobodyIsIdle) {
  Subgroup s(4);
  const auto other = s.c.group("2", "", {2, 3}, "gloo");
  s.c.inferred(other).open(other, "all_reduce", {2, 3});
  const Explanation explanation = s.only();
  EXPECT_EQ(summary({explanation}), "transport_stall/unknown low");
  EXPECT_TRUE(explanation.suspects.empty());
  EXPECT_FALSE(says_everyone_entered(explanation));
}

TEST(UncertainMembers, DeclaredGroupIsCertain) {
  CaseBuilder c(4);
  const auto pair = c.group("1", "tp", {0, 1});
  c.done(pair, "all_reduce").open(pair, "all_reduce", {0, 1});
  const auto found = c.run(find_symmetric_stall);
  EXPECT_EQ(summary(found), "transport_stall/unknown medium");
  EXPECT_TRUE(says_everyone_entered(found.at(0)));
}

// The order of launch in two groups accuses weakly where others may belong to them.
TEST(UncertainMembers, LaunchOrderIsWeak) {
  for (const bool declared : {true, false}) {
    CaseBuilder c(4);
    const auto a = c.group("1", "a", {0, 1, 2});
    const auto b = c.group("2", "b", {0, 1, 2});
    if (!declared) c.inferred(a).inferred(b);
    c.open(a, "all_reduce", {0, 1}).open(b, "all_gather", {0, 1, 2}).open(a, "all_reduce", {2});
    EXPECT_EQ(summary(c.run(find_launch_order)), declared ? "collective_desync/order_inversion medium 2"
                                                          : "collective_desync/order_inversion low 2");
  }
}

}  // namespace
}  // namespace unhang::detect
