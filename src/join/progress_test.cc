// SPDX-License-Identifier: Apache-2.0
//
// How far a rank came: what counts as finished, by backend and by pg_status.
#include <gtest/gtest.h>

#include "join/dumps_for_tests.h"

namespace unhang::join {
namespace {

using model::Operation;

// The rank of one dump, and which of its operations are finished ("+" yes, "-" no).
struct Read {
  explicit Read(formats::Evidence evidence) {
    std::vector<formats::Evidence> all;
    all.push_back(std::move(evidence));
    joined = join_all(std::move(all));
    rank = joined.ranks.at(0).input ? &joined.ranks[0] : &joined.ranks.at(1);
    for (const Operation& op : rank->operations) finished += op.has(Operation::kFinished) ? '+' : '-';
  }
  const model::Lane& lane(model::GroupIndex group = 0) const { return *rank->lane(group); }
  model::Case joined;
  const model::Rank* rank = nullptr;
  std::string finished;
};

TEST(Progress, CompletedIsFinishedAndRetiredIsNot) {
  TestDump d("dump_0");
  d.world("[0, 1]")
      .call("all_reduce", 1, "completed")
      .call("all_reduce", 2, "started")
      .call("all_reduce", 3, "scheduled", true);
  const Read read(d.finish());
  EXPECT_EQ(read.finished, "+--");
  EXPECT_EQ(read.lane().last_enqueued, 3);
  EXPECT_EQ(read.lane().last_completed, 1);
}

// NCCL runs the operations of a communicator in order: before a finished one, all are.
TEST(Progress, BeforeAFinishedOneAllAre) {
  TestDump d("dump_0");
  d.world("[0, 1]")
      .call("all_reduce", 1, "scheduled")
      .call("all_reduce", 2, "completed")
      .call("all_reduce", 3, "scheduled");
  EXPECT_EQ(Read(d.finish()).finished, "++-");
}

TEST(Progress, GlooIsDoneWhenRetired) {
  TestDump d("dump_0", "gloo");
  d.call("all_reduce", 1, "scheduled", true).call("all_reduce", 2, "scheduled");
  const Read read(d.finish());
  EXPECT_EQ(read.finished, "+-");
  EXPECT_EQ(read.lane().last_completed, 1);
}

// gloo's pg_status counts op_id, which transfers advance as well.
TEST(Progress, GlooStatusCountsOpIds) {
  TestDump d("dump_0", "gloo");
  d.op_id(3, "all_reduce", 1, false)
      .op_id(7, "all_reduce", 2, false)
      .op_id(9, "all_reduce", 3, false)
      .status(0, 9, 7);
  const Read read(d.finish());
  EXPECT_EQ(read.finished, "++-");
  EXPECT_EQ(read.lane().last_enqueued, 3);
  EXPECT_EQ(read.lane().last_completed, 2);
}

TEST(Progress, StatusTellsWhereNoOperationDoes) {
  TestDump d("dump_0");
  d.world("[0, 1]").group("3", "tp", "[0, 1]").status(0, 5, 5).status(1, 88683, 88683);
  const Read read(d.finish());
  EXPECT_EQ(read.lane(0).last_enqueued, 5);
  EXPECT_EQ(read.lane(1).last_enqueued, 88683);
  EXPECT_EQ(read.lane(1).last_completed, 88683);
  EXPECT_TRUE(read.lane(1).status_inferred);
}

// Process group numbers and names, both sorted as numbers, pair up.
TEST(Progress, StatusIsPairedByNumberNotByText) {
  TestDump d("dump_0");
  d.group("10", "b", "[0, 1]")
      .world("[0, 1]")
      .group("9", "a", "[0, 1]")
      .status(10, 103, 1)
      .status(2, 102, 1)
      .status(0, 101, 1);
  const Read read(d.finish());
  ASSERT_EQ(read.joined.groups.size(), 3u);
  EXPECT_EQ(read.lane(0).last_enqueued, 101);
  EXPECT_EQ(read.lane(1).last_enqueued, 102);
  EXPECT_EQ(read.lane(2).last_enqueued, 103);
}

// An operation shows that the pairing does not hold: then nothing is guessed.
TEST(Progress, StatusIsNotGuessedAgainstAnOperation) {
  TestDump d("dump_0");
  d.world("[0, 1]").group("3", "a", "[0, 1]").group("4", "b", "[0, 1]");
  d.in("4", "b", 1).call("all_reduce", 7, "scheduled").status(0, 50, 50).status(1, 7, 6).status(2, 90, 90);
  const Read read(d.finish());
  EXPECT_EQ(read.lane(2).last_enqueued, 7);
  EXPECT_EQ(read.lane(2).last_completed, 6);
  EXPECT_NE(read.lane(0).last_enqueued, 50);
  EXPECT_NE(read.lane(1).last_enqueued, 90);
}

// pg_status numbers transfers and collectives together: not comparable where there are transfers.
TEST(Progress, StatusOfGroupsWithTransfersIsNotCompared) {
  TestDump d("dump_0");
  d.world("[0, 1]")
      .call("all_reduce", 29, "completed")
      .transfer("send 0->1", 14148, "scheduled")
      .status(0, 14148, 14147);
  const Read read(d.finish());
  EXPECT_EQ(read.lane().last_enqueued, 29);
  EXPECT_EQ(read.lane().last_completed, 29);
  EXPECT_EQ(read.finished, "+-");
  EXPECT_TRUE(read.joined.groups[0].carries_p2p);
}

TEST(Progress, NeverIsComparableAlways) {
  TestDump d("dump_0", "gloo");
  d.world("[0, 1]").status(0, -1, -1);
  EXPECT_EQ(Read(d.finish()).lane().last_enqueued, -1);
}

TEST(Progress, WrappedRing) {
  TestDump d("dump_0");
  d.world("[0, 1]").first_record(500).call("all_reduce", 41, "completed").call("all_reduce", 42, "scheduled");
  const Read read(d.finish());
  EXPECT_TRUE(read.rank->wrapped);
  EXPECT_FALSE(read.rank->only_active);
  EXPECT_EQ(read.finished, "+-");
}

TEST(Progress, OnlyActiveDump) {
  TestDump d("dump_0");
  d.world("[0, 1]")
      .first_record(500)
      .call("all_reduce", 41, "scheduled")
      .first_record(507)
      .call("all_reduce", 43, "scheduled");
  const Read read(d.finish());
  EXPECT_TRUE(read.rank->only_active);
  EXPECT_FALSE(read.rank->wrapped);
  EXPECT_EQ(read.lane().last_completed, 40);  // the oldest open one tells that those before it are done
}

TEST(Progress, EmptyListWithCountersIsOnlyActive) {
  TestDump d("dump_0");
  d.world("[0, 1]").status(0, 12, 12);
  const Read read(d.finish());
  EXPECT_TRUE(read.rank->only_active);
  EXPECT_EQ(read.lane().last_enqueued, 12);
}

TEST(Progress, FreshRingWithoutAGroupsOperationsMeansNever) {
  TestDump d("dump_0");
  d.world("[0, 1]").group("3", "tp", "[0, 1]").call("all_reduce", 1, "completed");
  const Read read(d.finish());
  EXPECT_EQ(read.lane(1).last_enqueued, -1);
  TestDump wrapped("dump_0");
  wrapped.world("[0, 1]").group("3", "tp", "[0, 1]").first_record(9).call("all_reduce", 1, "completed");
  EXPECT_EQ(Read(wrapped.finish()).lane(1).last_enqueued, std::nullopt);
  TestDump cut("dump_0");
  cut.world("[0, 1]").group("3", "tp", "[0, 1]").call("all_reduce", 1, "completed");
  EXPECT_EQ(Read(cut.finish(false)).lane(1).last_enqueued, std::nullopt);
}

// Inner entries of a batch stay "scheduled" for ever: only the closing one counts.
TEST(Progress, BatchesStandOnceByTheirClosingEntry) {
  TestDump d("dump_0");
  d.world("[0, 1]")
      .call("all_reduce", 1, "completed")
      .transfer("send 0->1", 1, "scheduled")
      .transfer("recv 0<-1", 1, "scheduled");
  d.transfer("coalesced", 1, "completed");
  const Read read(d.finish());
  EXPECT_EQ(read.lane().collectives.size(), 1u);
  ASSERT_EQ(read.lane().p2p.size(), 1u);
  EXPECT_EQ(read.lane().p2p[0], 3u);
  EXPECT_TRUE(read.rank->operations[3].has(Operation::kFinished));
}

// Damaged numbers come in any order: lanes are sorted all the same.
TEST(Progress, LanesAreInOrderOfSequence) {
  TestDump d("dump_0");
  d.world("[0, 1]")
      .call("all_reduce", 9, "scheduled")
      .call("all_reduce", 3, "completed")
      .call("all_reduce", 5, "scheduled");
  const Read read(d.finish());
  EXPECT_EQ(read.lane().collectives, (std::vector<std::uint32_t>{1, 2, 0}));
}

}  // namespace
}  // namespace unhang::join
