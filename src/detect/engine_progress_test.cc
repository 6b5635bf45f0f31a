// SPDX-License-Identifier: Apache-2.0
#include "detect/engine_progress.h"

#include <gtest/gtest.h>

namespace unhang::detect {
namespace {

using model::EngineKind;
using model::EngineSample;
using model::EngineSeries;

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kBegin = 1'796'000'000 * kSecond;

// A page that is changed and read again, every two seconds.
struct Page {
  EngineSample sample;
  EngineProgress progress;
  std::int64_t now = kBegin;

  explicit Page(EngineKind kind = EngineKind::kVllm) {
    sample.engine = kind;
    sample.series.resize(1);
    series().labels = "engine=\"0\"";
    series().running = 8;
    series().waiting = 0;
    series().generation_tokens = 1000;
    series().prompt_tokens = 1000;
  }
  EngineSeries& series() { return sample.series[0]; }
  EngineMovement read() {
    now += 2 * kSecond;
    progress.observe(sample, now);
    return progress.state().movement;
  }
  EngineMovement read_with_tokens() {
    series().generation_tokens = *series().generation_tokens + 50;
    return read();
  }
  void stream(int readings) {
    for (int i = 0; i < readings; ++i) read_with_tokens();
  }
  // Readings without movement until it is called stopped; -1: not within 100.
  int readings_until_stopped() {
    for (int i = 1; i <= 100; ++i) {
      if (read() == EngineMovement::kStopped) return i;
    }
    return -1;
  }
};

TEST(EngineProgress, TokensAreAdvance) {
  Page page;
  EXPECT_EQ(page.read(), EngineMovement::kQuiet) << "one reading shows no movement";
  EXPECT_EQ(page.read_with_tokens(), EngineMovement::kAdvancing);
  const EngineJudgement state = page.progress.state();
  EXPECT_TRUE(state.usable);
  EXPECT_TRUE(state.moved_now);
  EXPECT_EQ(state.last_moved_ns, page.now);
  EXPECT_EQ(state.says, "8 running, 0 waiting");
}

TEST(EngineProgress, ASteadyStreamThatStopsIsSeenAtTheSecondReading) {
  Page page;
  page.stream(4);
  const std::int64_t moved = page.now;
  EXPECT_EQ(page.readings_until_stopped(), 2);
  EXPECT_EQ(page.progress.state().silent_since_ns, moved);
}

TEST(EngineProgress, GrowingQueuesAreNoMovement) {
  Page page;
  page.stream(4);
  page.series().waiting = 1;
  EXPECT_EQ(page.read(), EngineMovement::kQuiet);
  page.series().waiting = 9;
  EXPECT_EQ(page.read(), EngineMovement::kStopped);
}

TEST(EngineProgress, WithoutHistoryALongPromptHasItsTime) {
  Page page;
  EXPECT_EQ(page.readings_until_stopped(), 16) << "30 s after the first reading";
}

TEST(EngineProgress, WorkThatBeginsHasTheLongWindowAgain) {
  Page page;
  page.stream(10);
  page.series().running = 0;
  EXPECT_EQ(page.read(), EngineMovement::kIdle);
  page.series().running = 1;
  EXPECT_EQ(page.readings_until_stopped(), 16);
}

TEST(EngineProgress, WhenAllRequestsWereReplacedAPromptMayBeRead) {
  Page page;
  page.series().finished_requests = 10;
  page.series().running = 3;
  page.stream(6);
  page.series().finished_requests = 13;
  page.read_with_tokens();
  EXPECT_EQ(page.readings_until_stopped(), 15);
}

TEST(EngineProgress, ShortRequestsInAnUnbrokenStreamAreSteadyWhereTheCacheIsShown) {
  for (const bool shown : {true, false}) {
    Page page;
    page.series().running = 1;
    page.series().finished_requests = 10;
    if (shown) page.series().kv_usage = 0.1;
    page.read();
    for (int i = 0; i < 12; ++i) {
      page.series().finished_requests = *page.series().finished_requests + 2;
      page.read_with_tokens();
    }
    EXPECT_EQ(page.readings_until_stopped(), shown ? 2 : 15);
  }
}

TEST(EngineProgress, AnHonestSilenceIsLearned) {
  Page page;
  page.stream(4);
  EXPECT_EQ(page.read(), EngineMovement::kQuiet);
  EXPECT_EQ(page.read_with_tokens(), EngineMovement::kAdvancing);  // silent for 4 s
  page.stream(4);
  EXPECT_EQ(page.readings_until_stopped(), 3) << "one and a half times as long";
}

TEST(EngineProgress, AnHonestSilenceIsForgottenAfterAnHour) {
  Page page;
  page.stream(4);
  page.read();
  page.stream(1800 + 60);
  EXPECT_EQ(page.readings_until_stopped(), 2);
}

TEST(EngineProgress, ACacheThatFillsIsAPromptBeingRead) {
  Page page;
  page.series().kv_usage = 0.1;
  page.stream(4);
  for (int i = 0; i < 100; ++i) {
    page.series().kv_usage = *page.series().kv_usage + 0.002;
    EXPECT_EQ(page.read(), EngineMovement::kQuiet);
  }
  EXPECT_EQ(page.readings_until_stopped(), 15);
}

TEST(EngineProgress, ACacheThatEmptiesProvesNothing) {
  Page page;
  page.series().kv_usage = 0.5;
  page.stream(4);
  page.series().kv_usage = 0.4;
  EXPECT_EQ(page.read(), EngineMovement::kQuiet);
  page.series().kv_usage = 0.3;
  EXPECT_EQ(page.read(), EngineMovement::kStopped);
}

TEST(EngineProgress, ComesBackAfterTwoReadingsWithTokens) {
  Page page;
  page.stream(4);
  page.readings_until_stopped();
  EXPECT_EQ(page.read_with_tokens(), EngineMovement::kStopped);
  EXPECT_EQ(page.read(), EngineMovement::kStopped);
  EXPECT_EQ(page.read_with_tokens(), EngineMovement::kStopped);
  EXPECT_EQ(page.read_with_tokens(), EngineMovement::kAdvancing);
}

TEST(EngineProgress, RequestsThatAreGivenUpEndNoStall) {
  Page page;
  page.stream(4);
  page.readings_until_stopped();
  page.series().running = 0;
  EXPECT_EQ(page.read(), EngineMovement::kStopped);
}

TEST(EngineProgress, NothingToDoIsIdle) {
  Page page;
  page.series().running = 0;
  for (int i = 0; i < 100; ++i) EXPECT_EQ(page.read(), EngineMovement::kIdle);
}

TEST(EngineProgress, AQueueWithoutARunningRequestIsNotIdle) {
  Page page;
  page.series().running = 0;
  page.series().waiting = 2;
  EXPECT_EQ(page.readings_until_stopped(), 16);
}

TEST(EngineProgress, AYoungEngineThatHasMadeNothingStarts) {
  Page page;
  page.series().generation_tokens = page.series().prompt_tokens = 0;
  page.sample.process_start = static_cast<double>(kBegin / kSecond) - 30;
  page.series().running = 0;
  EXPECT_EQ(page.read(), EngineMovement::kStarting);
  page.series().running = 1;  // a warm-up request, and graphs are captured
  for (int i = 0; i < 200; ++i) EXPECT_EQ(page.read(), EngineMovement::kStarting);
  EXPECT_NE(page.readings_until_stopped(), -1) << "not for ever";
}

TEST(EngineProgress, AnOldEngineThatHasMadeNothingIsIdle) {
  Page page;
  page.series().generation_tokens = page.series().prompt_tokens = 0;
  page.series().running = 0;
  page.sample.process_start = static_cast<double>(kBegin / kSecond) - 86400;
  EXPECT_EQ(page.read(), EngineMovement::kIdle);
}

TEST(EngineProgress, AnotherProcessBeginsAnew) {
  Page page;
  page.sample.process_start = static_cast<double>(kBegin / kSecond) - 86400;
  page.stream(4);
  page.readings_until_stopped();
  page.sample.process_start = static_cast<double>(page.now / kSecond);
  page.series().generation_tokens = page.series().prompt_tokens = 0;
  EXPECT_EQ(page.read(), EngineMovement::kStarting);
  EXPECT_EQ(page.progress.state().restarts, 1);
}

TEST(EngineProgress, CountersThatFallBeginAnew) {
  Page page;
  page.stream(4);
  page.readings_until_stopped();
  page.series().generation_tokens = 3;
  EXPECT_EQ(page.read(), EngineMovement::kStarting);
  EXPECT_EQ(page.progress.state().restarts, 1);
  EXPECT_EQ(page.read_with_tokens(), EngineMovement::kAdvancing);
}

TEST(EngineProgress, ProcessesThatAnswerInTurnAreNotBelieved) {
  Page page;
  page.sample.process_start = 1000;
  for (int i = 0; i < 12; ++i) {
    page.sample.process_start = i % 2 == 0 ? 1000 : 2000;
    page.read();
  }
  const EngineJudgement state = page.progress.state();
  EXPECT_FALSE(state.usable);
  EXPECT_NE(state.why_not.find("several processes"), std::string::npos);
}

TEST(EngineProgress, GaugesAloneCannotShowMovement) {
  Page page(EngineKind::kSglang);
  page.series().generation_tokens.reset();
  page.series().prompt_tokens.reset();
  EXPECT_EQ(page.read(), EngineMovement::kUnknown);
  EXPECT_NE(page.progress.state().why_not.find("gauges only"), std::string::npos);
  EXPECT_FALSE(page.progress.state().usable);
}

TEST(EngineProgress, TokensThatCountOnlyAtTheEndGetTheLongWindow) {
  Page page(EngineKind::kSglang);
  page.series().finished_requests = 5;
  page.read();
  for (int i = 0; i < 6; ++i) {
    page.series().finished_requests = *page.series().finished_requests + 1;
    page.read_with_tokens();
  }
  EXPECT_EQ(page.readings_until_stopped(), 15);
  // With a counter that moves while answers are made there is no need to wait.
  Page finer(EngineKind::kSglang);
  finer.series().finished_requests = 5;
  finer.series().token_events = 0;
  finer.read();
  for (int i = 0; i < 6; ++i) {
    finer.series().finished_requests = *finer.series().finished_requests + 1;
    finer.series().token_events = *finer.series().token_events + 9;
    finer.read_with_tokens();
  }
  EXPECT_EQ(finer.readings_until_stopped(), 2);
}

TEST(EngineProgress, AReadingThatFailsIsNoSilence) {
  Page page;
  page.stream(4);
  for (int i = 0; i < 50; ++i) {
    page.now += 2 * kSecond;
    page.progress.no_answer("connection refused", page.now);
    EXPECT_EQ(page.progress.state().movement, EngineMovement::kUnknown);
  }
  EXPECT_EQ(page.progress.state().why_not, "did not answer: connection refused");
  EXPECT_EQ(page.read(), EngineMovement::kQuiet) << "one reading without growth is not yet a stall";
}

TEST(EngineProgress, OneReplicaThatStandsIsNamed) {
  Page page;
  page.sample.series.push_back(page.series());
  page.sample.series[1].labels = "engine=\"1\"";
  page.stream(0);
  for (int i = 0; i < 4; ++i) {
    page.sample.series[1].generation_tokens = *page.sample.series[1].generation_tokens + 7;
    page.read_with_tokens();
  }
  page.read_with_tokens();
  EXPECT_EQ(page.progress.state().movement, EngineMovement::kAdvancing);
  EXPECT_EQ(page.read_with_tokens(), EngineMovement::kStopped);
  EXPECT_EQ(page.progress.state().lags, "engine=\"1\"");
}

TEST(EngineProgress, SharedCountersCountForAllReplicas) {
  Page page(EngineKind::kSglang);
  page.sample.series.resize(3);
  for (int i = 0; i < 2; ++i) {
    page.sample.series[i] = {};
    page.sample.series[i].labels = "dp_rank=\"" + std::to_string(i) + "\"";
    page.sample.series[i].running = 1;
  }
  page.sample.series[2].labels = "model_name=\"m\"";
  page.sample.series[2].generation_tokens = 10;
  page.read();
  page.sample.series[2].generation_tokens = 20;
  EXPECT_EQ(page.read(), EngineMovement::kAdvancing);
  EXPECT_EQ(page.progress.state().running, 2);
}

TEST(EngineProgress, CountersThatAreNotThereYetAreAStart) {
  Page page;
  const EngineSample full = page.sample;
  page.sample = {};
  page.read();
  EXPECT_EQ(page.progress.state().movement, EngineMovement::kStarting);
  EXPECT_FALSE(page.progress.state().usable);
  page.sample = full;
  page.read();
  EXPECT_TRUE(page.progress.state().usable);
}

TEST(EngineProgress, AnEmptyListOfIterationsTellsNothing) {
  Page page(EngineKind::kTensorRtLlm);
  page.read();
  page.sample.series.clear();
  page.read();
  EXPECT_FALSE(page.progress.state().usable);
  EXPECT_NE(page.progress.state().why_not.find("/prometheus/metrics"), std::string::npos);
}

TEST(EngineProgress, ShortIntervalsAreJudgedByTimeToo) {
  EngineWindows windows;
  windows.interval_ns = kSecond / 5;
  Page page;
  page.progress = EngineProgress(windows);
  for (int i = 0; i < 10; ++i) {
    page.series().generation_tokens = *page.series().generation_tokens + 1;
    page.now += kSecond / 5;
    page.progress.observe(page.sample, page.now);
  }
  int readings = 0;
  while (page.progress.state().movement != EngineMovement::kStopped && readings < 100) {
    page.now += kSecond / 5;
    page.progress.observe(page.sample, page.now);
    ++readings;
  }
  EXPECT_EQ(readings, 5) << "at least a second";
}

}  // namespace
}  // namespace unhang::detect
