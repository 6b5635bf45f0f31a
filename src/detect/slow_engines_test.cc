// SPDX-License-Identifier: Apache-2.0
//
// Tokens a second: a fall with the same load is one, with less load it is none.
#include "detect/slow_engines.h"

#include <functional>
#include <limits>

#include <gtest/gtest.h>

#include "detect/slow_report.h"

namespace unhang::detect {
namespace {

constexpr std::int64_t kStart = 1'700'000'000'000'000'000;
constexpr std::int64_t kSecond = 1'000'000'000;

// A reading every ten seconds.
model::Case engine(int readings, const std::function<double(int)>& tokens_per_s,
                   const std::function<double(int)>& running, int restart_at = -1) {
  model::Case joined;
  double tokens = 1000;
  for (int i = 0; i < readings; ++i) {
    if (i == restart_at) tokens = 0;
    tokens += 10 * tokens_per_s(i);
    model::EngineReading& reading = joined.engine_readings.emplace_back();
    reading.engine = "http://127.0.0.1:8000";
    reading.time_ns = kStart + i * 10 * kSecond;
    reading.sample.process_start = restart_at >= 0 && i >= restart_at ? 2 : 1;
    model::EngineSeries& series = reading.sample.series.emplace_back();
    series.generation_tokens = tokens;
    series.running = running(i);
  }
  return joined;
}

model::SlowReport report_of(const model::Case& joined) {
  return slow_report(analyse(joined));
}

TEST(SlowEngines, AFallWithTheSameLoad) {
  const auto joined = engine(
      60, [](int i) { return (i < 30 ? 500 : 300) + i % 3; }, [](int i) { return 8 + i % 2; });
  const auto report = report_of(joined);
  ASSERT_EQ(report.engines.size(), 1u);
  EXPECT_NEAR(*report.engines[0].ratio, 0.6, 0.02);
  EXPECT_EQ(report.engines[0].readings, 60u);
  EXPECT_EQ(report.outcome, model::SlowOutcome::kSlow);
  ASSERT_EQ(report.findings.size(), 1u);
  EXPECT_EQ(report.findings[0].kind, model::SlowKind::kThroughputDrift);
  EXPECT_EQ(report.findings[0].confidence, model::Confidence::kLow);
}

TEST(SlowEngines, LessLoadIsNotSlower) {
  const auto joined = engine(
      60, [](int i) { return i < 30 ? 500 : 300; }, [](int i) { return i < 30 ? 8 : 4; });
  const auto report = report_of(joined);
  EXPECT_FALSE(report.engines.at(0).ratio.has_value());
  EXPECT_EQ(report.outcome, model::SlowOutcome::kNothingSlow);
}

TEST(SlowEngines, IdleTimesAndARestartAreLeftOut) {
  const auto joined = engine(
      60, [](int i) { return i / 10 % 2 == 0 ? 500 : 0; }, [](int i) { return i / 10 % 2 == 0 ? 8 : 0; }, 25);
  const auto report = report_of(joined);
  EXPECT_NEAR(report.engines.at(0).tokens_per_s, 500, 1);
  EXPECT_TRUE(report.findings.empty());
}

TEST(SlowEngines, NumbersThatCannotBeTrue) {
  for (const double wrong :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(), -1e300, 1e300}) {
    model::Case joined = engine(
        40, [](int) { return 500; }, [](int) { return 8; });
    for (std::size_t i = 0; i < joined.engine_readings.size(); i += 3)
      joined.engine_readings[i].sample.series[0].generation_tokens = wrong;
    joined.engine_readings[5].time_ns = std::numeric_limits<std::int64_t>::max();
    joined.engine_readings[7].time_ns = std::numeric_limits<std::int64_t>::min();
    joined.engine_readings[8].time_ns.reset();
    EXPECT_TRUE(report_of(joined).findings.empty()) << wrong;
  }
}

TEST(SlowEngines, OneReadingTellsNothing) {
  const auto report = report_of(engine(
      1, [](int) { return 500; }, [](int) { return 8; }));
  EXPECT_TRUE(report.engines.empty());
  EXPECT_EQ(report.outcome, model::SlowOutcome::kUnknown);
}

}  // namespace
}  // namespace unhang::detect
