// SPDX-License-Identifier: Apache-2.0
//
// Entries that look open and are not: what a batch leaves behind in an active-only dump, and what a cut
// leaves of one.
#include <gtest/gtest.h>

#include "join/dumps_for_tests.h"

namespace unhang::join {
namespace {

using model::Operation;

// Which operations of a rank are finished: "+" yes, "-" no.
std::string finished(const model::Rank& rank) {
  std::string out;
  for (const Operation& op : rank.operations) out += op.has(Operation::kFinished) ? '+' : '-';
  return out;
}

std::string finished(formats::Evidence evidence) {
  return finished(join_all(list(std::move(evidence))).ranks.at(0));
}

TEST(Leftovers, BatchOfOneIsToldByItsNumber) {
  TestDump d("dump_0");
  d.world("[0, 1]").first_record(40).transfer("send 0->1", 5, "scheduled").status(0, 5, 5);
  const model::Case joined = join_all(list(d.finish()));
  const model::Rank& rank = joined.ranks.at(0);
  EXPECT_TRUE(rank.only_active);
  EXPECT_EQ(finished(rank), "+");
  EXPECT_TRUE(rank.operations.at(0).has(Operation::kInner));
}

TEST(Leftovers, SeveralBatchesOfOne) {
  TestDump d("dump_0");
  d.world("[0, 1]").first_record(40).transfer("send 0->1", 4, "scheduled");
  d.first_record(42).transfer("send 0->1", 5, "scheduled").status(0, 6, 6);
  EXPECT_EQ(finished(d.finish()), "++");
}

// Neighbours of one launch are a batch whose closing entry was completed and left out.
TEST(Leftovers, LongerBatchNeedsNoStatus) {
  TestDump d("dump_0");
  d.world("[0, 1]")
      .first_record(40)
      .transfer("send 0->1", 5, "scheduled")
      .transfer("recv 0<-1", 5, "scheduled");
  EXPECT_EQ(finished(d.finish()), "++");
}

TEST(Leftovers, HealthyJobHasNothingOpen) {
  TestDump zero("dump_0");
  TestDump one("dump_1");
  zero.world("[0, 1]").first_record(40).transfer("send 0->1", 9, "scheduled").status(0, 9, 9);
  one.world("[0, 1]").first_record(40).transfer("recv 1<-0", 9, "scheduled").status(0, 9, 9);
  const model::Case joined = join_all(list(zero.finish(), one.finish()));
  ASSERT_EQ(joined.ranks.size(), 2u);
  for (const model::Rank& rank : joined.ranks) {
    EXPECT_EQ(finished(rank), "+");
    EXPECT_TRUE(rank.lane(0)->collectives.empty());
    EXPECT_EQ(rank.lane(0)->last_work, 9);
  }
}

// The number is weak where transfers overlap: beside anything that is really open, nothing is settled.
TEST(Leftovers, BesideAnOpenCollective) {
  TestDump d("dump_0");
  d.world("[0, 1]").first_record(40).transfer("send 0->1", 5, "scheduled");
  d.counts(5, 0).call("all_reduce", 7, "scheduled").status(0, 7, 6);
  EXPECT_EQ(finished(d.finish()), "--");
}

TEST(Leftovers, BesideALaterTransfer) {
  TestDump d("dump_0");
  d.world("[0, 1]").first_record(40).transfer("send 0->1", 5, "scheduled");
  d.first_record(42).transfer("recv 0<-1", 6, "scheduled").status(0, 6, 5);
  EXPECT_EQ(finished(d.finish()), "--");
}

TEST(Leftovers, BesideAnOpenBatch) {
  TestDump d("dump_0");
  d.world("[0, 1]").first_record(40).transfer("send 0->1", 5, "scheduled");
  d.first_record(42).transfer("send 0->1", 6, "scheduled").transfer("coalesced", 6, "scheduled");
  d.status(0, 6, 5);
  EXPECT_EQ(finished(d.finish()), "---");
}

// The completed number may be a collective's where those have come as far.
TEST(Leftovers, NumberThatACollectiveMayHave) {
  TestDump d("dump_0");
  d.world("[0, 1]").first_record(40).counts(0, 8).transfer("send 0->1", 5, "scheduled").status(0, 8, 8);
  EXPECT_EQ(finished(d.finish()), "-");
}

TEST(Leftovers, OnlyOfActiveOnlyDumps) {
  TestDump d("dump_0");
  d.world("[0, 1]").call("all_reduce", 1, "completed").transfer("send 0->1", 5, "scheduled").status(0, 5, 5);
  EXPECT_EQ(finished(d.finish()), "+-");
}

// The last entry before a cut may be the first of a batch, whose own state means nothing: not to be compared
// with what others call at its number.
TEST(Leftovers, LastEntryBeforeACut) {
  for (const bool complete : {false, true}) {
    TestDump d("dump_0");
    d.world("[0, 1]").call("all_reduce", 1, "completed").call("all_gather", 2, "scheduled");
    const model::Case joined = join_all(list(d.finish(complete)));
    const model::Rank& rank = joined.ranks.at(0);
    EXPECT_EQ(finished(rank), complete ? "+-" : "++");
    EXPECT_EQ(rank.operations.at(1).has(Operation::kInner), !complete);
    EXPECT_EQ(rank.lane(0)->collectives.size(), complete ? 2u : 1u);
    EXPECT_EQ(rank.lane(0)->last_enqueued, complete ? 2 : 1);
  }
}

TEST(Leftovers, ClosedBatchBeforeACutStands) {
  TestDump d("dump_0");
  d.world("[0, 1]").call("all_reduce", 1, "completed").call("all_reduce", 2, "scheduled");
  d.call("allreduce_coalesced", 2, "scheduled");
  const model::Case joined = join_all(list(d.finish(false)));
  const model::Rank& rank = joined.ranks.at(0);
  EXPECT_EQ(rank.lane(0)->collectives, (std::vector<std::uint32_t>{0, 2}));
  EXPECT_FALSE(rank.operations.at(2).has(Operation::kFinished));
  EXPECT_EQ(rank.lane(0)->last_enqueued, 2);
}

}  // namespace
}  // namespace unhang::join
