// SPDX-License-Identifier: Apache-2.0
#include "cli/log_merge.h"

#include <deque>
#include <string>

#include <gtest/gtest.h>

#include "formats/log/lines_for_tests.h"

namespace unhang::cli {
namespace {

// "FILE:message" of all lines, joined by '|'.
std::string merged(const std::vector<std::string>& texts, const LogTimeRules& rules = {},
                   std::size_t window = LogLines::kWindow) {
  const LogWriters writers;
  std::deque<os::MemorySource> sources;
  LogMerge merge(writers, false);
  for (const std::string& text : texts) merge.add(sources.emplace_back(text), rules, window);
  std::string out;
  while (const auto item = merge.next())
    out += (out.empty() ? "" : "|") + std::to_string(item->file) + ":" + item->line.message;
  return out;
}

std::vector<LogLine> lines_of(const std::string& text, const LogTimeRules& rules = {}) {
  const LogWriters writers;
  os::MemorySource source(text);
  LogMerge merge(writers, false);
  merge.add(source, rules);
  std::vector<LogLine> lines;
  while (auto item = merge.next()) lines.push_back(std::move(item->line));
  return lines;
}

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kFeb18 = 1'771'408'800 * kSecond;  // 2026-02-18T10:00:00Z

TEST(LogMerge, FilesAreMergedByTimeAndTiesByFile) {
  EXPECT_EQ(merged({"2026-02-18T10:00:01Z a\n2026-02-18T10:00:03Z c\n",
                    "2026-02-18T10:00:01Z b\n2026-02-18T10:00:02Z d\n"}),
            "0:a|1:b|1:d|0:c");
}

TEST(LogMerge, LinesWithoutATimeStayBehindTheLineAboveThem) {
  EXPECT_EQ(merged({"2026-02-18T10:00:01Z a\nn1:5:6 [0] NCCL INFO b\n2026-02-18T10:00:09Z z\n",
                    "2026-02-18T10:00:02Z c\n"}),
            "0:a|0:b|1:c|0:z");
}

TEST(LogMerge, WhatStandsBeforeTheFirstTimeIsNotBeforeEverything) {
  EXPECT_EQ(merged({"n1:5:6 [0] NCCL INFO first\n2026-02-18T10:00:05Z a\n", "2026-02-18T10:00:02Z b\n"}),
            "1:b|0:first|0:a");
}

TEST(LogMerge, AFileThatGoesBackwardsIsSortedWithinItsWindow) {
  const std::string text = "2026-02-18T10:00:02Z b\n2026-02-18T10:00:01Z a\n2026-02-18T10:00:03Z c\n";
  EXPECT_EQ(merged({text}), "0:a|0:b|0:c");
}

TEST(LogMerge, TheWindowIsBounded) {
  std::string text;
  for (int i = 0; i < 20'000; ++i) text += "2026-02-18T10:00:02Z line " + std::to_string(i) + "\n";
  os::MemorySource source(text);
  const LogWriters writers;
  LogLines lines({}, writers, 0, 10);
  std::size_t given = 0;
  for (std::size_t at = 0; at < text.size() && !lines.window_is_full(); at += 100)
    lines.feed(std::string_view(text).substr(at, 100));
  while (!lines.empty()) {
    lines.pop();
    ++given;
  }
  EXPECT_GE(given, 10u);
  EXPECT_LE(given, 16u);  // those of the last block of 100 bytes come on top
}

TEST(LogMerge, AZoneIsStatedAssumedOrGiven) {
  const auto stated = lines_of("2026-02-18T12:00:00+02:00 a\n");
  ASSERT_EQ(stated.size(), 1u);
  EXPECT_EQ(stated[0].ns, kFeb18);
  EXPECT_EQ(stated[0].place, LogPlace::kStated);
  const auto assumed = lines_of("2026-02-18 10:00:00,000 a\n");
  ASSERT_EQ(assumed.size(), 1u);
  EXPECT_EQ(assumed[0].ns, kFeb18);
  EXPECT_EQ(assumed[0].place, LogPlace::kZone);
  const auto given = lines_of("2026-02-18 12:00:00,000 a\n", {.zone_ns = 7200 * kSecond});
  ASSERT_EQ(given.size(), 1u);
  EXPECT_EQ(given[0].ns, kFeb18);
  EXPECT_EQ(given[0].place, LogPlace::kStated);
}

TEST(LogMerge, AYearIsGivenOrTakenFromWhatIsNear) {
  const std::string text = "Feb 18 10:00:00 n1 prog[7]: a\n";
  const auto given = lines_of(text, {.year = 2026, .near_ns = 0});
  ASSERT_EQ(given.size(), 1u);
  EXPECT_EQ(given[0].ns, kFeb18);
  EXPECT_EQ(given[0].host, "n1");
  const auto near = lines_of(text, {.near_ns = kFeb18 - 60 * 86'400 * kSecond});  // December 2025
  ASSERT_EQ(near.size(), 1u);
  EXPECT_EQ(near[0].ns, kFeb18);
  const auto january = lines_of("Jan  1 00:00:00 n1 prog[7]: a\n", {.year = 2026});
  ASSERT_EQ(january.size(), 1u);
  EXPECT_EQ(january[0].ns, 1'767'225'600 * kSecond);
  const auto december = lines_of("Dec 31 23:59:59 n1 prog[7]: a\n", {.year = 2026});
  ASSERT_EQ(december.size(), 1u);
  EXPECT_EQ(december[0].ns, 1'798'761'599 * kSecond);
}

TEST(LogMerge, AnUptimeStaysBehindTheLastTime) {
  const auto lines = lines_of("2026-02-18T10:00:00Z a\n[ 1843.308145] NVRM: Xid (PCI:0000:4f:00): 79\n");
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[1].ns, kFeb18);
  EXPECT_EQ(lines[1].place, LogPlace::kUnplaced);
  EXPECT_EQ(lines[1].level, LogLevel::kError);
}

TEST(LogMerge, ALineWithoutAnEndWaitsWhereTheFileIsFollowed) {
  const LogWriters writers;
  os::MemorySource first("2026-02-18T10:00:01Z a\n2026-02-18T10:00:02Z half");
  os::MemorySource second("2026-02-18T10:00:03Z c\n");
  LogMerge merge(writers, true);
  merge.add(first, {});
  const auto a = merge.next();
  ASSERT_TRUE(a);
  EXPECT_EQ(a->line.message, "a");
  EXPECT_FALSE(merge.next());
  merge.replace(0, second);
  merge.look_again();
  const auto half = merge.next(), c = merge.next();
  ASSERT_TRUE(half && c);
  EXPECT_EQ(half->line.message, "half");
  EXPECT_EQ(c->line.message, "c");
}

TEST(LogMerge, ARankOfOneLineIsThatOfItsProcess) {
  const std::string text =
      "n1:5:6 [0] NCCL INFO ncclCommInitRank comm 0x5 rank 3 nranks 4 cudaDev 0 nvmlDev 0 busId 1c000 commId "
      "0x7 - Init START\n";
  const LogWriters writers({formats::log::read_log(text)}, {"a.log"});
  model::LogOrigin origin;
  origin.host = "n1";
  origin.pid = 5;
  EXPECT_EQ(writers.of(7, origin).rank, 3);
  origin.pid = 6;
  EXPECT_EQ(writers.of(7, origin).rank, -1);
}

TEST(LogMerge, LevelsAreThoseThatLinesState) {
  const auto lines = lines_of(
      "n1:5:6 [0] init.cc:1 NCCL WARN w\nn1:5:6 [0] NCCL INFO i\n[E1016 03:31:38.928019586 a.cpp:607] e\n"
      "ValueError: e\nplain words\n");
  ASSERT_EQ(lines.size(), 5u);
  EXPECT_EQ(lines[0].level, LogLevel::kWarn);
  EXPECT_EQ(lines[1].level, LogLevel::kInfo);
  EXPECT_EQ(lines[2].level, LogLevel::kError);
  EXPECT_EQ(lines[3].level, LogLevel::kError);
  EXPECT_EQ(lines[4].level, LogLevel::kUnstated);
}

}  // namespace
}  // namespace unhang::cli
