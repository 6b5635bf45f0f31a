// SPDX-License-Identifier: Apache-2.0
#include "detect/communicator_lives.h"

#include <gtest/gtest.h>

namespace unhang::detect {
namespace {

using model::CommunicatorPhase;
using model::LogClock;
using model::LogCommunicator;
using model::LogTime;

constexpr std::int64_t kSecond = 1'000'000'000;

// Communicators as processes print them, one process a rank.
struct Lines {
  model::Log log;
  std::uint32_t input = 0;
  std::uint64_t line = 0;

  std::uint32_t process(const std::string& host, std::int64_t pid, std::int32_t global_rank = -1) {
    const model::LogOrigin origin{.host = host, .pid = pid, .global_rank = global_rank, .label = {}};
    for (std::uint32_t i = 0; i < log.origins.size(); ++i) {
      if (log.origins[i] == origin) return i;
    }
    log.origins.push_back(origin);
    return static_cast<std::uint32_t>(log.origins.size() - 1);
  }
  LogCommunicator& begin(std::uint32_t origin, std::int32_t rank, std::int32_t ranks,
                         std::optional<std::uint64_t> id) {
    LogCommunicator c;
    c.origin = origin;
    c.input = input;
    c.pointer = 0x7f00;  // the same on every host
    c.id = id;
    c.rank = rank;
    c.ranks = ranks;
    c.started = true;
    c.started_line = c.last_line = ++line;
    log.communicators.push_back(c);
    return log.communicators.back();
  }
  LogCommunicator& whole(std::uint32_t origin, std::int32_t rank, std::int32_t ranks,
                         std::optional<std::uint64_t> id) {
    LogCommunicator& c = begin(origin, rank, ranks, id);
    c.completed = true;
    c.phase = CommunicatorPhase::kComplete;
    c.completed_line = c.last_line = ++line;
    return c;
  }
};

LogTime at(double seconds) {
  return {LogClock::kLocal, static_cast<std::int64_t>(seconds * kSecond)};
}

TEST(CommunicatorLives, RanksThatNeverCheckedIn) {
  Lines lines;
  for (std::int32_t rank = 0; rank < 16; ++rank) {
    if (rank == 3 || rank == 11 || rank == 12) continue;
    LogCommunicator& c =
        lines.begin(lines.process("node" + std::to_string(rank / 8), 100 + rank), rank, 16, 0xabc);
    c.started_at = at(10 + rank);
    c.last_at = at(20 + rank);
  }
  const auto sets = group_communicators(lines.log);
  ASSERT_EQ(sets.size(), 1u);
  EXPECT_EQ(sets[0].label, "commId 0xabc");
  EXPECT_FALSE(sets[0].by_order);
  EXPECT_EQ(sets[0].size, 16);
  EXPECT_EQ(sets[0].missing_count, 3);
  EXPECT_EQ(missing_text(sets[0]), "3,11-12");
  EXPECT_EQ(missing_ranks(sets[0], 10), (std::vector<std::int32_t>{3, 11, 12}));
  EXPECT_EQ(missing_ranks(sets[0], 2), (std::vector<std::int32_t>{3, 11}));
  EXPECT_EQ(sets[0].stopped.size(), 13u);
  EXPECT_EQ(sets[0].slowest, CommunicatorPhase::kStarted);
  EXPECT_FALSE(sets[0].all_complete);
  EXPECT_EQ(sets[0].first_start.ns, 10 * kSecond);
  EXPECT_EQ(sets[0].stopped_since.ns, 35 * kSecond);
  EXPECT_FALSE(sets[0].last_complete.known());
  EXPECT_LT(sets[0].seconds, 0);
}

TEST(CommunicatorLives, AllComplete) {
  Lines lines;
  for (std::int32_t rank = 3; rank >= 0; --rank) {
    LogCommunicator& c = lines.whole(lines.process("a", rank), rank, 4, 1);
    c.started_at = at(100);
    c.completed_at = at(100.25 + 0.05 * rank);
  }
  auto sets = group_communicators(lines.log);
  ASSERT_EQ(sets.size(), 1u);
  EXPECT_TRUE(sets[0].all_complete);
  EXPECT_EQ(sets[0].slowest, CommunicatorPhase::kComplete);
  EXPECT_EQ(sets[0].members, (std::vector<std::uint32_t>{3, 2, 1, 0}));  // ascending rank
  EXPECT_NEAR(sets[0].seconds, 0.4, 1e-9);
  // NCCL's own time is better than that of the lines.
  lines.log.communicators[2].total_seconds = 0.31;
  sets = group_communicators(lines.log);
  EXPECT_NEAR(sets[0].seconds, 0.31, 1e-9);
}

TEST(CommunicatorLives, WhoStoppedAndWhereTheSlowestStands) {
  Lines lines;
  lines.whole(lines.process("a", 1), 0, 3, 7);
  lines.begin(lines.process("a", 2), 1, 3, 7).phase = CommunicatorPhase::kConnecting;
  lines.begin(lines.process("a", 3), 2, 3, 7).phase = CommunicatorPhase::kTopology;
  const auto sets = group_communicators(lines.log);
  ASSERT_EQ(sets.size(), 1u);
  EXPECT_EQ(sets[0].missing_count, 0);
  EXPECT_EQ(sets[0].stopped, (std::vector<std::uint32_t>{1, 2}));
  EXPECT_EQ(sets[0].slowest, CommunicatorPhase::kTopology);
}

TEST(CommunicatorLives, OneThatWasUsedAndDestroyedWasComplete) {
  Lines lines;
  LogCommunicator& gone = lines.whole(lines.process("a", 1), 0, 2, 7);
  gone.phase = CommunicatorPhase::kDestroyed;
  LogCommunicator& aborted = lines.begin(lines.process("a", 2), 1, 2, 7);
  aborted.phase = CommunicatorPhase::kAborted;
  auto sets = group_communicators(lines.log);
  EXPECT_EQ(sets[0].stopped, (std::vector<std::uint32_t>{1}));
  EXPECT_EQ(sets[0].slowest, CommunicatorPhase::kAborted);
  lines.log.communicators[1].completed = true;
  sets = group_communicators(lines.log);
  EXPECT_TRUE(sets[0].all_complete);
  EXPECT_EQ(sets[0].slowest, CommunicatorPhase::kAborted);
}

TEST(CommunicatorLives, TheSamePointerOnTwoHostsIsNotTheSame) {
  Lines lines;  // same pid and pointer, two jobs
  lines.whole(lines.process("a", 1), 0, 1, 0xa);
  lines.whole(lines.process("b", 1), 0, 1, 0xb);
  const auto sets = group_communicators(lines.log);
  ASSERT_EQ(sets.size(), 2u);
  EXPECT_EQ(sets[0].label, "commId 0xa");
  EXPECT_EQ(sets[1].label, "commId 0xb");
  EXPECT_TRUE(sets[0].all_complete && sets[1].all_complete);
}

TEST(CommunicatorLives, TwoRunsInOneFileAreTwoSets) {
  Lines lines;
  for (std::uint32_t run = 0; run < 2; ++run) {
    for (std::int32_t rank = 0; rank < 2; ++rank) {
      if (run == 1 && rank == 1) continue;
      lines.whole(lines.process("a", 10 * run + rank), rank, 2, {}).run = run;
    }
  }
  const auto sets = group_communicators(lines.log);
  ASSERT_EQ(sets.size(), 2u);
  EXPECT_TRUE(sets[0].all_complete);
  EXPECT_EQ(missing_text(sets[1]), "1");
  EXPECT_TRUE(sets[1].by_order);
  EXPECT_EQ(sets[0].label, "2 ranks, the 1st");
  EXPECT_EQ(sets[1].label, "2 ranks, the 2nd");
}

TEST(CommunicatorLives, ARestartWithTheSameIdIsAnotherSet) {
  Lines lines;  // NCCL_COMM_ID set: the id is the same in every run
  lines.whole(lines.process("a", 1), 0, 2, 5);
  lines.whole(lines.process("a", 2), 1, 2, 5);
  lines.begin(lines.process("a", 3), 0, 2, 5);
  const auto sets = group_communicators(lines.log);
  ASSERT_EQ(sets.size(), 2u);
  EXPECT_TRUE(sets[0].all_complete);
  EXPECT_EQ(missing_text(sets[1]), "1");
  EXPECT_EQ(sets[1].label, "commId 0x5, the 2nd of that name");
}

TEST(CommunicatorLives, WithoutIdsTheOrderDecides) {
  Lines lines;
  for (std::int32_t rank = 0; rank < 2; ++rank) {
    const std::uint32_t process = lines.process("a", rank);
    lines.whole(process, rank, 2, {}).pointer = 1;
    lines.whole(process, rank, 2, {}).pointer = 2;
    if (rank == 0) lines.begin(process, rank, 2, {}).pointer = 3;
  }
  const auto sets = group_communicators(lines.log);
  ASSERT_EQ(sets.size(), 3u);
  EXPECT_EQ(sets[1].members, (std::vector<std::uint32_t>{1, 4}));
  EXPECT_TRUE(sets[0].all_complete && sets[1].all_complete);
  EXPECT_EQ(missing_text(sets[2]), "1");
}

TEST(CommunicatorLives, SplitsBelongToTheirParentAndColor) {
  Lines lines;
  for (std::int32_t rank = 0; rank < 4; ++rank) lines.whole(lines.process("a", rank), rank, 4, 9).pointer = 1;
  for (std::int32_t rank = 0; rank < 4; ++rank) {
    LogCommunicator& c = lines.whole(lines.process("a", rank), rank / 2, 2, {});
    c.pointer = 2;
    c.parent = 1;
    c.split = 1;
    c.color = rank % 2;
  }
  const auto sets = group_communicators(lines.log);
  ASSERT_EQ(sets.size(), 3u);
  EXPECT_EQ(sets[1].label, "split 1 color 0 of commId 0x9");
  EXPECT_EQ(sets[1].members, (std::vector<std::uint32_t>{4, 6}));
  EXPECT_EQ(sets[2].members, (std::vector<std::uint32_t>{5, 7}));
  EXPECT_TRUE(sets[1].all_complete && sets[2].all_complete);
  EXPECT_FALSE(sets[1].by_order);
}

TEST(CommunicatorLives, ALifeThatTwoFilesTellIsOne) {
  Lines lines;
  const std::uint32_t process = lines.process("a", 1);
  lines.begin(process, 0, 2, 5);
  lines.begin(lines.process("a", 2), 1, 2, 5);
  lines.input = 1;  // the rank's own log has its end as well
  lines.whole(process, 0, 2, 5);
  const auto sets = group_communicators(lines.log);
  ASSERT_EQ(sets.size(), 1u);
  EXPECT_EQ(sets[0].members, (std::vector<std::uint32_t>{2, 1}));
  EXPECT_EQ(sets[0].stopped, (std::vector<std::uint32_t>{1}));
}

TEST(CommunicatorLives, AMissingRankWhoseLogIsThere) {
  Lines lines;
  lines.begin(lines.process("a", 1, 0), 0, 4, 5);
  lines.process("a", 2, 2);  // wrote other lines
  const auto sets = group_communicators(lines.log);
  ASSERT_EQ(sets.size(), 1u);
  EXPECT_EQ(missing_text(sets[0]), "1-3");
  EXPECT_EQ(sets[0].missing_with_log, (std::vector<std::int32_t>{2}));
}

TEST(CommunicatorLives, HostileSizesCostNothing) {
  Lines lines;
  lines.begin(lines.process("a", 1), 5, INT32_MAX, 5);
  lines.begin(lines.process("a", 2), INT32_MAX, 3, 6);  // a rank beyond the size
  lines.begin(lines.process("a", 3), -1, -1, 7);
  const auto sets = group_communicators(lines.log);
  ASSERT_EQ(sets.size(), 3u);
  EXPECT_EQ(sets[0].missing_count, std::int64_t{INT32_MAX} - 1);
  EXPECT_EQ(missing_text(sets[0]), "0-4,6-2147483646");
  EXPECT_EQ(missing_text(sets[1]), "0-2");
  EXPECT_EQ(sets[2].missing_count, 0);
  EXPECT_FALSE(sets[2].all_complete);
  EXPECT_TRUE(group_communicators({}).empty());
}

TEST(CommunicatorLives, RanksThatAreNotPrintedMayBeAnyOfThem) {
  Lines lines;
  lines.whole(lines.process("a", 1), 0, 3, 5);
  lines.whole(lines.process("a", 2), -1, 3, 5);
  const auto sets = group_communicators(lines.log);
  ASSERT_EQ(sets.size(), 1u);
  EXPECT_TRUE(sets[0].missing.empty());
  EXPECT_EQ(sets[0].missing_count, 1);
}

}  // namespace
}  // namespace unhang::detect
