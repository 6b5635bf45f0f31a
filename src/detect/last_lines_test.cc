// SPDX-License-Identifier: Apache-2.0
#include "detect/last_lines.h"

#include <gtest/gtest.h>

#include "detect/log_analysis.h"
#include "detect/log_case_for_tests.h"

namespace unhang::detect {
namespace {

using model::LogEventKind;

// Lines 1 to 5 of a.log, line 1 of b.log.
model::Case two_files() {
  LogCase c;
  c.file("a.log").says(LogEventKind::kCudaError).says(LogEventKind::kTrainingStep);
  c.says(LogEventKind::kConnectionReset).says(LogEventKind::kRequestProgress, {.code = 0});
  c.says(LogEventKind::kEngineReady);
  c.file("b.log").says(LogEventKind::kRequestProgress, {.code = 1});
  return c.joined();
}

TEST(LastLines, AreThoseOfEachFile) {
  const model::Case joined = two_files();
  const LogAnalysis logs = analyse_logs(joined);
  const LastLines steps(logs, {LogEventKind::kTrainingStep});
  EXPECT_EQ(steps.in(0), 2u);
  EXPECT_EQ(steps.in(1), 0u);
  EXPECT_EQ(steps.in(7), 0u);
  const LastLines both(logs, {LogEventKind::kEngineReady, LogEventKind::kTrainingStep});
  EXPECT_EQ(both.in(0), 5u);
}

TEST(LastLines, AnIdleEngineCountsOnlyWhereAsked) {
  const model::Case joined = two_files();
  const LogAnalysis logs = analyse_logs(joined);
  const LastLines tokens(logs, {LogEventKind::kRequestProgress});
  EXPECT_EQ(tokens.in(0), 0u);
  EXPECT_EQ(tokens.in(1), 1u);
  EXPECT_EQ(LastLines(logs, {LogEventKind::kRequestProgress}, Requests::kAny).in(0), 4u);
}

TEST(LastLines, BehindIsInTheSameFileAndLater) {
  const model::Case joined = two_files();
  const LogAnalysis logs = analyse_logs(joined);
  EXPECT_TRUE(logs.life.behind(*logs.of(LogEventKind::kCudaError).front()));
  EXPECT_FALSE(logs.life.behind(*logs.of(LogEventKind::kConnectionReset).front()));
  EXPECT_FALSE(logs.life.behind(*logs.of(LogEventKind::kTrainingStep).front())) << "not behind itself";
}

TEST(LogAnalysis, AFileEndsWellWhereSomethingGoodIsTheLastWord) {
  LogCase c;
  c.file("a.log").says(LogEventKind::kCudaError).says(LogEventKind::kTrainingStep);
  c.file("b.log").says(LogEventKind::kTrainingStep).says(LogEventKind::kCudaError);
  c.file("c.log").says(LogEventKind::kCudaError).says(LogEventKind::kTrainingEnd);
  c.says(LogEventKind::kStoreClosed);
  const model::Case joined = c.joined();
  EXPECT_EQ(analyse_logs(joined).inputs_that_end_well, (std::set<std::uint32_t>{0, 2}));
}

}  // namespace
}  // namespace unhang::detect
