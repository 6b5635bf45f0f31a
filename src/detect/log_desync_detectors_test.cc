// SPDX-License-Identifier: Apache-2.0
//
// Ranks at different places, or with different calls, as logs tell of them.
#include <gtest/gtest.h>

#include "detect/log_case_for_tests.h"

namespace unhang::detect {
namespace {

using model::LogEventKind;

// Ranks 0 to n-1 in a communicator of one host, with a call of each.
struct Callers {
  explicit Callers(int n) {
    for (int rank = 0; rank < n; ++rank) {
      by(rank);
      ids.push_back(
          c.communicator({.rank = rank, .ranks = n, .reached = model::CommunicatorPhase::kInUse, .p2p = 2}));
    }
  }
  void by(int rank) { c.by({.host = "node1", .pid = 100 + rank, .global_rank = rank}); }
  void call(int rank, std::uint64_t op_count, std::string kind, std::uint64_t count,
            std::int32_t datatype = 7, std::int32_t root = -1) {
    by(rank);
    c.call(ids[static_cast<std::size_t>(rank)], op_count, std::move(kind), count, datatype, root);
  }
  LogCase c;
  std::vector<std::uint32_t> ids;
};

// --- log_call_mismatch ---

TEST(LogCallMismatch, OneRankCallsAnother) {
  Callers w(3);
  for (const int rank : {0, 1, 2}) w.call(rank, 7, "AllReduce", 1024);
  w.call(0, 8, "AllReduce", 64);
  w.call(1, 8, "AllGather", 64);
  w.call(2, 8, "AllReduce", 64);
  EXPECT_EQ(w.c.told(find_log_call_mismatch), "collective_desync/op_mismatch medium: rank 1");
}

TEST(LogCallMismatch, SizesTypesAndRoots) {
  Callers sizes(3);
  for (const int rank : {0, 1, 2}) sizes.call(rank, 8, "AllReduce", rank == 2 ? 65 : 64);
  EXPECT_EQ(sizes.c.told(find_log_call_mismatch), "collective_desync/size_mismatch medium: rank 2");
  Callers types(3);
  for (const int rank : {0, 1, 2}) types.call(rank, 8, "AllReduce", 64, rank == 0 ? 9 : 7);
  EXPECT_EQ(types.c.told(find_log_call_mismatch), "collective_desync/dtype_mismatch medium: rank 0");
  Callers roots(3);
  for (const int rank : {0, 1, 2}) roots.call(rank, 8, "Broadcast", 64, 7, rank == 1 ? 1 : 0);
  EXPECT_EQ(roots.c.told(find_log_call_mismatch), "collective_desync/root_mismatch medium: rank 1");
}

TEST(LogCallMismatch, TwoAgainstTwoBlamesNobody) {
  Callers w(2);
  w.call(0, 8, "AllReduce", 64);
  w.call(1, 8, "AllGather", 64);
  const auto found = w.c.run(find_log_call_mismatch);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_TRUE(found[0].other_culprits.empty());
  EXPECT_EQ(found[0].other_suspects.size(), 2u);
}

TEST(LogCallMismatch, TimeoutsOfOneGroup) {
  LogCase c;
  c.give_up({0, 1, 2, 3}, {.sequence = 9, .operation = "ALLREDUCE"});
  c.by_rank(4).gives_up({.rank = 4, .sequence = 9, .operation = "BROADCAST"});
  EXPECT_EQ(c.told(find_log_call_mismatch), "collective_desync/op_mismatch medium: rank 4");
  LogCase sizes;
  sizes.give_up({0, 1, 2, 3}, {.sequence = 9, .in = 64});
  sizes.by_rank(4).gives_up({.rank = 4, .sequence = 9, .in = 65});
  EXPECT_EQ(sizes.told(find_log_call_mismatch), "collective_desync/size_mismatch medium: rank 4");
}

TEST(LogCallMismatch, PyTorchsOwnCheck) {
  LogCase c;
  c.by_rank(0).says(LogEventKind::kShapeMismatchReport,
                    {.code = 1, .rank = 0, .text = "Detected mismatch between collectives on ranks"});
  EXPECT_EQ(c.told(find_log_call_mismatch), "collective_desync/op_mismatch medium");
}

TEST(LogCallMismatch, TransfersOfDifferentSizes) {
  LogCase c;
  c.says(LogEventKind::kNetSizeMismatch, {.detail = "local 64 remote 128"});
  const auto found = c.run(find_log_call_mismatch);
  EXPECT_EQ(LogCase::tell(found), "collective_desync/size_mismatch low");
  ASSERT_EQ(found[0].alternatives.size(), 1u);
  EXPECT_EQ(found[0].alternatives[0].cause, "env_mismatch");
}

TEST(LogCallMismatch, WhatLooksLikeIt) {
  Callers transfers(2);  // send and receive share numbers and differ by design
  transfers.call(0, 8, "Send", 64, 7, 1);
  transfers.call(1, 8, "Recv", 64, 7, 0);
  EXPECT_EQ(transfers.c.told(find_log_call_mismatch), "nothing");
  LogCase uneven;  // shares of a gather may differ in size
  uneven.give_up({0, 1}, {.operation = "GATHER", .in = 64});
  uneven.by_rank(2).gives_up({.rank = 2, .operation = "GATHER", .in = 60});
  EXPECT_EQ(uneven.told(find_log_call_mismatch), "nothing");
  LogCase no_group;  // equal numbers of two groups
  no_group.give_up({0, 1}, {.group = "", .operation = "ALLREDUCE"});
  no_group.by_rank(2).gives_up({.rank = 2, .group = "", .operation = "BROADCAST"});
  EXPECT_EQ(no_group.told(find_log_call_mismatch), "nothing");
  LogCase cut;  // a number cut off by a line break
  cut.give_up({0, 1}, {.in = 129280});
  cut.by_rank(2).gives_up({.rank = 2, .in = 1, .cut = true});
  EXPECT_EQ(cut.told(find_log_call_mismatch), "nothing");
}

// A pointer, a pid and a number may be the same on two hosts: communicators are told apart by their id.
TEST(LogCallMismatch, TwoCommunicatorsOfOneSize) {
  LogCase c;
  c.by({.host = "node1", .pid = 7, .global_rank = 0});
  const auto first = c.communicator({.rank = 0, .ranks = 2, .id = 1});
  c.call(first, 8, "AllReduce", 64);
  c.by({.host = "node2", .pid = 7, .global_rank = 2});
  const auto second = c.communicator({.rank = 0, .ranks = 2, .id = 2});
  c.call(second, 8, "AllGather", 64);
  EXPECT_EQ(c.told(find_log_call_mismatch), "nothing");
}

// --- log_lag ---

TEST(LogLag, TheDesyncReport) {
  LogCase c;
  c.by_rank(0).says(LogEventKind::kLaggingRanks, {.detail = "3,11"});
  EXPECT_EQ(c.told(find_log_lag), "collective_desync/rank_not_entered medium: rank 3, rank 11");
  c.by_rank(1).says(LogEventKind::kLaggingRanks, {.detail = "3"});  // who saw more names fewer
  EXPECT_EQ(c.told(find_log_lag), "collective_desync/rank_not_entered medium: rank 3");
}

TEST(LogLag, AtDifferentPlaces) {
  LogCase c;
  c.give_up({0, 1, 3}, {.sequence = 41});
  c.by_rank(2).gives_up({.rank = 2, .sequence = 40});
  EXPECT_EQ(c.told(find_log_lag), "collective_desync/rank_not_entered low ? rank 2");
}

TEST(LogLag, TheRanksThatGaveNoTimeout) {
  LogCase c;
  c.give_up({0, 1, 3}, {.operation = "_ALLGATHER_BASE", .in = 100, .out = 400});
  EXPECT_EQ(c.told(find_log_lag), "collective_desync/rank_not_entered low ? rank 2");
  LogCase collapsed;  // a collector left their lines out
  collapsed.give_up({0, 1, 3}, {.operation = "_ALLGATHER_BASE", .in = 100, .out = 400, .collapsed = 1});
  EXPECT_EQ(collapsed.told(find_log_lag), "nothing");
}

TEST(LogLag, OneAloneAtABarrier) {
  LogCase c;
  c.give_up({0}, {.in = 1});
  EXPECT_EQ(c.told(find_log_lag), "collective_desync/extra_collective low ? rank 0");
  LogCase ended;
  ended.by_rank(1).says(LogEventKind::kTrainingEnd);
  ended.give_up({0}, {.in = 4096});
  EXPECT_EQ(ended.told(find_log_lag), "collective_desync/extra_collective low ? rank 0");
}

TEST(LogLag, InAGroupThatIsNotTheWholeJob) {
  LogCase c;
  c.give_up({0, 1, 3},
            {.group = "9", .operation = "_ALLGATHER_BASE", .in = 100, .out = 400, .description = "tp"});
  EXPECT_EQ(c.told(find_log_lag), "collective_desync/rank_not_entered low ? rank 2 in tp");
}

TEST(LogLag, WhatLooksLikeIt) {
  LogCase one;  // one log of many, and no barrier
  one.give_up({0}, {.in = 4096});
  EXPECT_EQ(one.told(find_log_lag), "nothing");
  LogCase few;  // most logs are missing
  few.give_up({0, 1}, {.operation = "_ALLGATHER_BASE", .in = 100, .out = 800});
  EXPECT_EQ(few.told(find_log_lag), "nothing");
  LogCase two_groups;  // each with its own numbers
  two_groups.give_up({0, 1}, {.group = "1", .sequence = 40});
  two_groups.give_up({0, 1}, {.group = "2", .sequence = 900});
  EXPECT_EQ(two_groups.told(find_log_lag), "nothing");
}

// --- log_symmetric ---

TEST(LogSymmetric, EverybodyGaveUp) {
  LogCase c;
  c.give_up({0, 1, 2, 3}, {.operation = "_ALLGATHER_BASE", .in = 100, .out = 400});
  EXPECT_EQ(c.told(find_log_symmetric), "transport_stall/unknown low (tentative)");
  EXPECT_EQ(c.diagnosed().headline,
            "all 4 ranks entered _ALLGATHER_BASE #41 of default_pg and none finished");
}

TEST(LogSymmetric, SomeGaveUp) {
  LogCase c;
  c.give_up({0}, {.in = 4096});
  EXPECT_EQ(c.told(find_log_symmetric), "inconclusive/unknown low (tentative)");
  EXPECT_TRUE(c.diagnosed().culprits.empty());
}

TEST(LogSymmetric, NobodyGaveUp) {
  LogCase c;
  c.says(LogEventKind::kTrainingStep, {.code = 3});
  EXPECT_EQ(c.told(find_log_symmetric), "nothing");
}

// --- log_host_work ---

TEST(LogHostWork, ACheckpointWhenTheOthersBeganToWait) {
  LogCase c;
  c.file("rank0.log").by_rank(0).at(10).says(LogEventKind::kCheckpoint, {.code = 0});
  c.file("rank1.log").by_rank(1).at(620).gives_up({.rank = 1});
  const auto found = c.run(find_log_host_work);
  EXPECT_EQ(LogCase::tell(found), "collective_desync/rank_not_entered low ? rank 0");
  EXPECT_EQ(found[0].root, "host_blocked");
  EXPECT_EQ(found[0].headline, "rank 0 was at a checkpoint when the others began to wait: the times fit");
}

TEST(LogHostWork, WithoutTimes) {
  LogCase c;
  c.by_rank(0).says(LogEventKind::kDataLoading).give_up({1, 2});
  const auto found = c.run(find_log_host_work);
  EXPECT_EQ(LogCase::tell(found), "collective_desync/rank_not_entered low ? rank 0");
  EXPECT_EQ(found[0].headline, "rank 0 was loading or tokenising data when the others began to wait");
}

TEST(LogHostWork, WhatLooksLikeIt) {
  LogCase no_wait;
  no_wait.by_rank(0).says(LogEventKind::kCheckpoint);
  EXPECT_EQ(no_wait.told(find_log_host_work), "nothing");
  LogCase steps;  // it went on
  steps.by_rank(0).says(LogEventKind::kCheckpoint).says(LogEventKind::kTrainingStep, {.code = 12});
  steps.give_up({1, 2});
  EXPECT_EQ(steps.told(find_log_host_work), "nothing");
  LogCase after;  // what is saved when a wait has ended
  after.give_up({1, 2}).says(LogEventKind::kCheckpoint);
  EXPECT_EQ(after.told(find_log_host_work), "nothing");
  LogCase long_ago;
  long_ago.file("rank0.log").by_rank(0).at(0).says(LogEventKind::kWeightLoading);
  long_ago.file("rank1.log").by_rank(1).at(20'000).gives_up({.rank = 1});
  EXPECT_EQ(long_ago.told(find_log_host_work), "nothing");
}

TEST(LogHostWork, WorkThatFinishedIsOver) {
  LogCase c;
  c.by_rank(0).says(LogEventKind::kCheckpoint, {.code = 0}).says(LogEventKind::kCheckpoint, {.code = 1});
  c.give_up({1, 2});
  EXPECT_EQ(c.told(find_log_host_work), "nothing");
  LogCase of_another;  // the end of another rank's work says nothing of this one
  of_another.by_rank(0).says(LogEventKind::kCheckpoint, {.code = 0});
  of_another.by_rank(1).says(LogEventKind::kCheckpoint, {.code = 1});
  of_another.give_up({1, 2});
  EXPECT_EQ(of_another.told(find_log_host_work), "collective_desync/rank_not_entered low ? rank 0");
}

}  // namespace
}  // namespace unhang::detect
