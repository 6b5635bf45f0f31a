// SPDX-License-Identifier: Apache-2.0
//
// Detectors of point-to-point transfers.
#include <gtest/gtest.h>

#include "detect/case_builder_for_tests.h"

namespace unhang::detect {
namespace {

TEST(P2pEdges, HealthyRoundsLeaveNothingPending) {
  CaseBuilder c(2);
  const auto world = c.group("0", "default_pg", {0, 1});
  for (int i = 0; i < 3; ++i)
    c.send(world, 0, 1, true).receive(world, 1, 0, true).send(world, 1, 0, true).receive(world, 0, 1, true);
  EXPECT_TRUE(pending_transfers(c.joined()).empty());
}

// The two ends stand in different groups: ranks are translated to the whole job (reference §12).
TEST(P2pEdges, EndsRecordedUnderDifferentGroups) {
  CaseBuilder c(4);
  const auto world = c.group("0", "default_pg", {0, 1, 2, 3});
  const auto pipeline = c.group("7", "pp", {1, 3});
  c.send(pipeline, 1, 1).receive(world, 3, 1);
  const auto pending = pending_transfers(c.joined());
  ASSERT_EQ(pending.size(), 2u);
  EXPECT_EQ(pending[0].rank, 1u);
  EXPECT_EQ(pending[0].peer, 3u);
  EXPECT_TRUE(pending[0].matched);
  EXPECT_TRUE(pending[1].matched);
  EXPECT_EQ(summary(c.run(find_wait_cycle)), "nothing");
  EXPECT_EQ(summary(c.run(find_not_entered)), "nothing");
}

// The k-th send belongs to the k-th receive of that direction, whatever happened on others meanwhile.
TEST(P2pEdges, CountsPerDirection) {
  CaseBuilder c(3);
  const auto world = c.group("0", "default_pg", {0, 1, 2});
  c.send(world, 0, 1, true).send(world, 0, 2, true).receive(world, 1, 0, true).receive(world, 2, 0, true);
  c.send(world, 0, 2, false, elements(9)).receive(world, 2, 0, false, elements(9)).send(world, 0, 1);
  const auto pending = pending_transfers(c.joined());
  ASSERT_EQ(pending.size(), 3u);
  EXPECT_TRUE(pending[0].matched);
  EXPECT_FALSE(pending[0].size_differs);
  EXPECT_FALSE(pending[1].matched);
  EXPECT_EQ(pending[1].peer, 1u);
}

TEST(P2pUnmatched, NoReceivePosted) {
  CaseBuilder c(4);
  const auto world = c.group("0", "default_pg", {0, 1, 2, 3});
  c.done(world, "all_reduce").send(world, 0, 1);
  EXPECT_EQ(summary(c.run(find_not_entered)), "collective_desync/p2p_unmatched high 1");
}

TEST(P2pDeadlock, TwoThatBothReceive) {
  CaseBuilder c(2);
  const auto world = c.group("0", "default_pg", {0, 1});
  c.done(world, "all_reduce").receive(world, 0, 1).receive(world, 1, 0);
  EXPECT_EQ(summary(c.run(find_wait_cycle)), "collective_desync/p2p_deadlock high 0,1");
  EXPECT_EQ(summary(c.run(find_not_entered)), "nothing");
}

TEST(P2pDeadlock, RingOfFour) {
  CaseBuilder c(6);
  const auto world = c.group("0", "default_pg", {0, 1, 2, 3, 4, 5});
  c.done(world, "all_reduce");
  for (model::RankIndex rank = 0; rank < 4; ++rank)
    c.receive(world, rank, static_cast<std::int32_t>((rank + 1) % 4));
  c.receive(world, 5, 0);  // waits for the circle, is not part of it
  EXPECT_EQ(summary(c.run(find_wait_cycle)), "collective_desync/p2p_deadlock high 0,1,2,3");
}

// A send and its receive, both posted, are no deadlock even where neither has finished.
TEST(P2pDeadlock, CrossedTransfersThatMeetAreNone) {
  CaseBuilder c(2);
  const auto world = c.group("0", "default_pg", {0, 1});
  c.send(world, 0, 1).receive(world, 1, 0).send(world, 1, 0).receive(world, 0, 1);
  EXPECT_EQ(summary(c.run(find_wait_cycle)), "nothing");
}

TEST(TransferMismatch, SizeAndType) {
  for (const auto& [options, cause] :
       {std::pair(elements(65), "size_mismatch"), std::pair(dtype("Half"), "dtype_mismatch")}) {
    CaseBuilder c(4);
    const auto world = c.group("0", "default_pg", {0, 1, 2, 3});
    c.send(world, 3, 1).receive(world, 1, 3, false, options);
    const auto found = c.run(find_transfer_mismatch);
    EXPECT_EQ(summary(found), std::string("collective_desync/") + cause + " high 3,1");
    EXPECT_TRUE(found.at(0).is_pair);
  }
}

TEST(TransferMismatch, ShapesWithEqualElementsFit) {
  CaseBuilder c(2);
  const auto world = c.group("0", "default_pg", {0, 1});
  c.send(world, 0, 1).receive(world, 1, 0, false, {.in = {8, 8}, .out = {8, 8}});
  EXPECT_EQ(summary(c.run(find_transfer_mismatch)), "nothing");
}

// With rings that have forgotten their beginning, and different numbers open, which belongs to which is not
// known.
TEST(TransferMismatch, WrappedRingsProveNothing) {
  CaseBuilder c(2);
  const auto world = c.group("0", "default_pg", {0, 1});
  c.send(world, 0, 1, true).receive(world, 1, 0, true);
  c.send(world, 0, 1, false, elements(5))
      .send(world, 0, 1, false, elements(9))
      .receive(world, 1, 0, false, elements(9));
  c.wrap(0, 1).wrap(1, 1);
  EXPECT_EQ(summary(c.run(find_transfer_mismatch)), "nothing");
}

TEST(WaitCycle, TransferAgainstCollective) {
  CaseBuilder c(2);
  const auto world = c.group("0", "default_pg", {0, 1});
  c.done(world, "all_reduce").send(world, 0, 1).open(world, "all_reduce", {1});
  const auto found = c.run(find_wait_cycle);
  EXPECT_EQ(summary(found), "collective_desync/p2p_unmatched medium 0,1");
}

}  // namespace
}  // namespace unhang::detect
