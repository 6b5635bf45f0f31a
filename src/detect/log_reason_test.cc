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
  const auto found = with_reason(eight_ranks(), {}, missing(5), killed(5));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->category, Category::kProcessOrDeviceUnavailable);
  EXPECT_EQ(found->cause, "oom_killed");
  EXPECT_EQ(found->strength, Confidence::kMedium);
  EXPECT_EQ(found->culprits, std::vector<model::RankIndex>{5});
  EXPECT_EQ(found->headline, "python was killed; rank 5 left no dump");
}

TEST(LogReason, WithoutANameItIsAsWeakAsTheWeaker) {
  const auto found = with_reason(eight_ranks(), {}, missing(5), killed(-1));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->strength, Confidence::kLow);
}

// A host that nobody reaches explains the ranks on it; that a dump of another host is missing is another
// matter.
TEST(LogReason, ANetworkFaultOfSomeLeavesTheOthersAsSuspects) {
  Explanation shown = missing(5);
  shown.culprits = {2, 5};
  Explanation told = killed(5);
  told.category = Category::kTransportStall;
  told.cause = "ib_retry_exceeded";
  const auto found = with_reason(eight_ranks(), {}, shown, told);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->cause, "ib_retry_exceeded");
  EXPECT_EQ(found->culprits, std::vector<model::RankIndex>{5});
  EXPECT_EQ(found->suspects, std::vector<model::RankIndex>{2});
}

TEST(LogReason, AnotherRankIsAnotherMatter) {
  EXPECT_FALSE(with_reason(eight_ranks(), {}, missing(5), killed(3)));
}

TEST(LogReason, WhatIsTentativeOrKnownAlreadyIsNone) {
  Explanation tentative = killed(5);
  tentative.tentative = true;
  EXPECT_FALSE(with_reason(eight_ranks(), {}, missing(5), tentative));
  Explanation known = missing(5);
  known.cause = "op_mismatch";
  EXPECT_FALSE(with_reason(eight_ranks(), {}, known, killed(5)));
}

TEST(LogReason, AnExceptionIsTheRootAndTheCategoryStays) {
  Explanation exception = killed(5);
  exception.category = Category::kNotCommunication;
  exception.cause = "application_error";
  Explanation shown = missing(5);
  shown.cause = "rank_not_entered";
  const auto found = with_reason(eight_ranks(), {}, shown, exception);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->category, Category::kCollectiveDesync);
  EXPECT_EQ(found->cause, "rank_not_entered");
  EXPECT_EQ(found->root, "application_error");
}

TEST(LogReason, ANetworkFaultExplainsWhereEverybodyStands) {
  Explanation link = killed(-1);
  link.category = Category::kTransportStall;
  link.cause = "link_down";
  EXPECT_FALSE(with_reason(eight_ranks(), {}, missing(5), link)) << "it does not explain who is missing";
  Explanation stands = missing(5);
  stands.cause = "unknown";
  stands.category = Category::kTransportStall;
  stands.culprits.clear();
  const auto found = with_reason(eight_ranks(), {}, stands, link);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->cause, "link_down");
}

// node1 has ranks 0-3, node2 ranks 4-7; rank 5 is pid 105 and drives b3:00.0.
model::Case on_two_hosts() {
  model::Case joined = eight_ranks();
  joined.hosts = {{"node1", {}, {0, 1, 2, 3}}, {"node2", {}, {4, 5, 6, 7}}};
  for (model::Rank& rank : joined.ranks) {
    rank.host = rank.global_rank < 4 ? "node1" : "node2";
    joined.identities.push_back(
        {rank.global_rank,
         {{model::IdentityKey::kHost, rank.host, "log", {}},
          {model::IdentityKey::kPid, std::to_string(100 + rank.global_rank), "log", {}},
          {model::IdentityKey::kGpuBusId,
           rank.global_rank == 5 ? "0000:b3:00.0" : "0000:01:00.0",
           "log",
           {}}}});
  }
  return joined;
}

Explanation lost_gpu(const char* host, const char* gpu) {
  Explanation out = killed(-1);
  out.cause = "gpu_fallen_off_bus";
  model::Subject subject;
  subject.kind = model::SubjectKind::kGpu;
  subject.host = host;
  subject.gpu = gpu;
  subject.why = "Xid 79";
  out.other_culprits = {subject};
  return out;
}

TEST(LogReason, AFaultOfADeviceIsOfTheRankThatDrivesIt) {
  const model::Case joined = on_two_hosts();
  const RankNames names(joined);
  Explanation shown = missing(5);
  shown.why = {"left no dump"};
  const auto found = with_reason(joined, names, shown, lost_gpu("node2", "0000:B3:00"));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->cause, "gpu_fallen_off_bus");
  EXPECT_EQ(found->strength, Confidence::kMedium);
  EXPECT_EQ(found->why, std::vector<std::string>{"Xid 79; left no dump"});
  EXPECT_FALSE(with_reason(joined, names, shown, lost_gpu("node1", "0000:01:00.0")));
  shown.strength = Confidence::kMedium;
  EXPECT_EQ(with_reason(joined, names, shown, lost_gpu("node2", "0000:B3:00"))->strength, Confidence::kHigh);
}

TEST(LogReason, OfSeveralMissingThoseAreBlamedThatTheLogTellsGone) {
  const model::Case joined = on_two_hosts();
  const RankNames names(joined);
  Explanation shown = missing(5);
  shown.culprits = {2, 5};
  shown.why = {"left no dump"};
  const auto found = with_reason(joined, names, shown, lost_gpu("node2", "0000:b3:00"));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->culprits, std::vector<model::RankIndex>{5});
  EXPECT_EQ(found->suspects, std::vector<model::RankIndex>{2});
}

TEST(LogReason, ALostHostExplainsAllItsRanks) {
  const model::Case joined = on_two_hosts();
  const RankNames names(joined);
  Explanation shown = missing(4);
  shown.culprits = {4, 5, 6, 7};
  Explanation lost = killed(-1);
  lost.cause = "node_unreachable";
  model::Subject host;
  host.kind = model::SubjectKind::kHost;
  host.host = "node2";
  lost.other_culprits = {host};
  const auto found = with_reason(joined, names, shown, lost);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->culprits, (std::vector<model::RankIndex>{4, 5, 6, 7}));
  EXPECT_EQ(found->cause, "node_unreachable");
}

}  // namespace
}  // namespace unhang::detect
