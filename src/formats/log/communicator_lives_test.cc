// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "formats/log/lines_for_tests.h"

namespace unhang::formats::log {
namespace {

using model::CommunicatorPhase;

constexpr std::string_view kStart =
    "h:10:11 [0] NCCL INFO ncclCommInitRank comm 0x55a0 rank 0 nranks 2 cudaDev 0 nvmlDev 4 busId 1c000 "
    "commId 0xabc - Init START\n";
constexpr std::string_view kComplete =
    "h:10:11 [0] NCCL INFO ncclCommInitRank comm 0x55a0 rank 0 nranks 2 cudaDev 0 nvmlDev 4 busId 1c000 "
    "commId 0xabc - Init COMPLETE\n";

model::Log log_of(std::initializer_list<std::string_view> lines) {
  std::string text;
  for (const std::string_view line : lines) text += line;
  return read_log(text);
}

TEST(CommunicatorLives, FromStartToEnd) {
  const model::Log log =
      log_of({"h:10:11 [0] NCCL INFO Using network IB\n", kStart,
              "h:10:11 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM\n",
              "h:10:11 [0] NCCL INFO Channel 01/0 : 0[0] -> 1[1] [send] via NET/IB/0/GDRDMA\n",
              "h:10:11 [0] NCCL INFO Connected all rings\n", kComplete,
              "h:10:11 [0] NCCL INFO Init timings - ncclCommInitRank: rank 0 nranks 2 total 1.50 (kernels "
              "0.1, bootstrap 0.25, rest 0.0)\n"});
  ASSERT_EQ(log.communicators.size(), 1u);
  const model::LogCommunicator& c = log.communicators[0];
  EXPECT_EQ(c.pointer, 0x55a0u);
  EXPECT_EQ(c.id, 0xabcu);
  EXPECT_EQ(c.rank, 0);
  EXPECT_EQ(c.ranks, 2);
  EXPECT_EQ(c.nvml_device, 4);
  EXPECT_EQ(c.bus_id, "1c000");
  EXPECT_EQ(c.function, "ncclCommInitRank");
  EXPECT_EQ(c.network, "IB");
  EXPECT_TRUE(c.started);
  EXPECT_TRUE(c.completed);
  EXPECT_EQ(c.phase, CommunicatorPhase::kComplete);
  EXPECT_EQ(c.started_line, 2u);
  EXPECT_EQ(c.completed_line, 6u);
  EXPECT_EQ(c.channels, 2u);
  EXPECT_EQ(c.p2p_channels, 1u);
  EXPECT_EQ(c.net_channels, 1u);
  EXPECT_EQ(c.gdr_channels, 1u);
  EXPECT_DOUBLE_EQ(c.total_seconds, 1.5);
  EXPECT_DOUBLE_EQ(c.bootstrap_seconds, 0.25);
  EXPECT_EQ(log.runs, 1u);
}

TEST(CommunicatorLives, StopsWhereItStopped) {
  EXPECT_EQ(log_of({kStart}).communicators[0].phase, CommunicatorPhase::kStarted);
  EXPECT_EQ(log_of({kStart, "h:10:11 [0] NCCL INFO Trees [0] -1/-1\n"}).communicators[0].phase,
            CommunicatorPhase::kTopology);
  EXPECT_EQ(log_of({kStart, "h:10:11 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] via SHM/direct/direct\n"})
                .communicators[0]
                .phase,
            CommunicatorPhase::kConnecting);
}

TEST(CommunicatorLives, OldReleasesPrintNoStart) {
  const model::Log log =
      log_of({"h:10:11 [0] NCCL INFO comm 0x7f rank 15 nranks 32 cudaDev 7 nvmlDev 7 - Init COMPLETE\n"});
  ASSERT_EQ(log.communicators.size(), 1u);
  EXPECT_FALSE(log.communicators[0].started);
  EXPECT_TRUE(log.communicators[0].completed);
  EXPECT_EQ(log.communicators[0].rank, 15);
}

TEST(CommunicatorLives, SplitsKnowTheirParent) {
  const model::Log log =
      log_of({"h:10:11 [0] NCCL INFO ncclCommSplit comm 0x7f rank 1 nranks 4 cudaDev 1 nvmlDev 1 busId 3b000 "
              "parent 0x55 splitCount 1 color 3 key 1- Init START\n"});
  ASSERT_EQ(log.communicators.size(), 1u);
  EXPECT_EQ(log.communicators[0].parent, 0x55u);
  EXPECT_FALSE(log.communicators[0].id.has_value());
  EXPECT_TRUE(log.communicators[0].started);
}

TEST(CommunicatorLives, ReleaseWithTheRankInFront) {
  const model::Log log =
      log_of({"h:10:11 [0] NCCL INFO [Rank 3] ncclCommInitRankConfig comm 0x7f rank 3 nranks 4 cudaDev 1 "
              "nvmlDev 1 busId 3b000 commId 0x9- Init START\n"});
  ASSERT_EQ(log.communicators.size(), 1u);
  EXPECT_EQ(log.communicators[0].function, "ncclCommInitRankConfig");
  EXPECT_EQ(log.communicators[0].id, 0x9u);
  EXPECT_TRUE(log.communicators[0].started);
}

TEST(CommunicatorLives, APointerIsUsedAgain) {
  const model::Log log =
      log_of({kStart, kComplete,
              "h:10:11 [0] NCCL INFO comm 0x55a0 rank 0 nranks 2 cudaDev 0 busId 1c000 - Destroy COMPLETE\n",
              kStart});
  ASSERT_EQ(log.communicators.size(), 2u);
  EXPECT_EQ(log.communicators[0].phase, CommunicatorPhase::kDestroyed);
  EXPECT_EQ(log.communicators[1].phase, CommunicatorPhase::kStarted);
  EXPECT_EQ(log.runs, 1u);
}

TEST(CommunicatorLives, SamePointerInTwoProcesses) {
  EXPECT_EQ(log_of({kStart,
                    "h:20:21 [0] NCCL INFO ncclCommInitRank comm 0x55a0 rank 1 nranks 2 cudaDev 1 nvmlDev 5 "
                    "busId 2c000 commId 0xabc - Init START\n"})
                .communicators.size(),
            2u);
}

TEST(CommunicatorLives, AnotherProcessInTheSamePlaceIsAnotherRun) {
  const model::Log log = log_of({kStart, kComplete,
                                 "h:90:91 [0] NCCL INFO ncclCommInitRank comm 0x66 rank 0 nranks 2 cudaDev 0 "
                                 "nvmlDev 4 busId 1c000 commId 0xdef - Init START\n"});
  EXPECT_EQ(log.runs, 2u);
  ASSERT_EQ(log.communicators.size(), 2u);
  EXPECT_EQ(log.communicators[0].run, 0u);
  EXPECT_EQ(log.communicators[1].run, 1u);
}

TEST(CommunicatorLives, CallsKeepTheLatest) {
  std::string text;
  for (int i = 0; i < 70; ++i) {
    char line[200];
    std::snprintf(line, sizeof line,
                  "h:10:10 [2] NCCL INFO AllReduce: opCount %x sendbuff 0x1 recvbuff 0x2 count %d datatype 7 "
                  "op 0 root 0 comm 0x99 [nranks=4] stream 0x3\n",
                  i, i + 5);
    text += line;
  }
  const model::Log log = read_log(text);
  ASSERT_EQ(log.communicators.size(), 1u);
  EXPECT_EQ(log.communicators[0].phase, CommunicatorPhase::kInUse);
  EXPECT_EQ(log.communicators[0].ranks, 4);
  ASSERT_EQ(log.calls.size(), 64u);
  EXPECT_EQ(log.calls.back().op_count, 69u);
  EXPECT_EQ(log.calls.back().count, 74u);
  EXPECT_EQ(log.calls.back().kind, "AllReduce");
  EXPECT_EQ(log.calls.back().datatype, 7);
  EXPECT_EQ(log.calls.front().op_count, 6u);
}

TEST(CommunicatorLives, DamagedLines) {
  for (const char* text :
       {"comm 0x", "comm 0xzz rank 0", "ncclCommInitRank", "comm 0x1", "AllReduce: opCount",
        "AllReduce: opCount 1 comm 0x0", "Channel ", "Init timings - x: total"}) {
    EXPECT_LE(read_log("h:1:2 [0] NCCL INFO " + std::string(text) + "\n").communicators.size(), 1u) << text;
  }
}

}  // namespace
}  // namespace unhang::formats::log
