// SPDX-License-Identifier: Apache-2.0
//
// Days of engines, reading after reading: never `stopped` while it works, and every stall found in time.
#include <functional>
#include <string>

#include <gtest/gtest.h>

#include "detect/engine_day_for_tests.h"

namespace unhang::detect {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kInterval = 2 * kSecond;
// Two readings, and the time to the next one.
constexpr std::int64_t kInTime = 3 * kInterval;

struct Score {
  int readings = 0;
  int false_alarms = 0;
  int stalls = 0, found = 0, missed = 0;
  int steady_stalls = 0, late = 0;  // of those found: later than kInTime
  std::string first_fault;
};

using Watch = std::function<model::State(EngineDay&, std::int64_t before_ns)>;

Watch real_watch(const EngineWindows& windows) {
  struct State {
    EngineProgress engine;
    InstanceTracker tracker;
  };
  auto state = std::make_shared<State>(State{EngineProgress(windows), InstanceTracker("m", windows)});
  return [state](EngineDay& day, std::int64_t before_ns) {
    if (day.answers()) {
      state->engine.observe(day.sample(), day.now_ns());
    } else {
      state->engine.no_answer("connection refused", day.now_ns());
    }
    EngineReading reading;
    reading.kind = model::EngineKind::kVllm;
    reading.judgement = state->engine.state();
    reading.ever_answered = state->engine.ever_answered();
    if (day.answers()) reading.health = 200;
    return state->tracker.update({reading}, day.ras(before_ns), day.now_ns()).state;
  };
}

Score judge(DayKind kind, std::uint64_t seed, std::int64_t hours, const Watch& watch) {
  EngineDay day(kind, seed);
  Score score;
  bool was_stalled = false, found = false;
  std::int64_t stall = 0, not_read = 0;
  const std::int64_t end = EngineDay::kBegin + hours * 3600 * kSecond;
  for (std::int64_t now = EngineDay::kBegin; now < end; now += kInterval) {
    const std::int64_t before = day.now_ns();
    day.advance_to(now + kInterval);
    const bool stalled = day.stalled();
    if (was_stalled && (!stalled || day.stalled_since_ns() != stall) && !found) {
      ++score.missed;
      if (score.first_fault.empty())
        score.first_fault = "missed at " + std::to_string((stall - EngineDay::kBegin) / kSecond);
    }
    if (stalled && (!was_stalled || day.stalled_since_ns() != stall)) {
      ++score.stalls;
      stall = day.stalled_since_ns();
      found = false;
      if (day.stalled_in_a_steady_stream()) ++score.steady_stalls;
    }
    was_stalled = stalled;
    not_read = stalled && !day.answers() ? not_read + kInterval : stalled ? not_read : 0;
    const model::State state = watch(day, before);
    ++score.readings;
    if (state != model::State::kStopped) continue;
    if (day.is_down()) continue;  // it was killed; what stopped still stands
    if (!stalled) {
      ++score.false_alarms;
      if (score.first_fault.empty())
        score.first_fault = "false at " + std::to_string((day.now_ns() - EngineDay::kBegin) / kSecond);
    } else if (!found) {
      found = true;
      ++score.found;
      if (day.stalled_in_a_steady_stream() && day.now_ns() - stall > kInTime + not_read) {
        ++score.late;
        if (score.first_fault.empty())
          score.first_fault = "late at " + std::to_string((day.now_ns() - EngineDay::kBegin) / kSecond);
      }
    }
  }
  if (was_stalled && !found) --score.stalls;  // the day ended first
  return score;
}

constexpr DayKind kKinds[] = {
    {DayKind::Engine::kVllm, DayKind::Ras::kNone},    {DayKind::Engine::kVllm, DayKind::Ras::kGraphs},
    {DayKind::Engine::kVllm, DayKind::Ras::kEager},   {DayKind::Engine::kSglang, DayKind::Ras::kNone},
    {DayKind::Engine::kSglang, DayKind::Ras::kEager}, {DayKind::Engine::kOld, DayKind::Ras::kNone},
    {DayKind::Engine::kOld, DayKind::Ras::kEager},
};

TEST(EngineDay, NoFalseStoppedAndEveryStallFoundInTime) {
  Score all;
  for (const DayKind kind : kKinds) {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      const Score score = judge(kind, seed, 2, real_watch({}));
      const std::string where = "engine " + std::to_string(static_cast<int>(kind.engine)) + " ras " +
                                std::to_string(static_cast<int>(kind.ras)) + " seed " + std::to_string(seed) +
                                ": " + score.first_fault;
      EXPECT_EQ(score.false_alarms, 0) << where;
      EXPECT_EQ(score.missed, 0) << where;
      // Where steps are silent for as long as a prompt takes, the short window learns to wait for that.
      if (kind.engine != DayKind::Engine::kOld) {
        EXPECT_EQ(score.late, 0) << where;
      }
      all.stalls += score.stalls;
      all.found += score.found;
      all.steady_stalls += score.steady_stalls;
      all.late += score.late;
      all.readings += score.readings;
    }
  }
  EXPECT_GT(all.stalls, 200) << "too few stalls: the day tests nothing";
  EXPECT_GT(all.steady_stalls, 60);
  EXPECT_EQ(all.found, all.stalls);
  std::printf("%d readings, %d stalls, %d found, %d in a steady stream, %d of them late\n", all.readings,
              all.stalls, all.found, all.steady_stalls, all.late);
}

TEST(EngineDay, AWholeDay) {
  const Score score = judge({DayKind::Engine::kVllm, DayKind::Ras::kGraphs}, 77, 24, real_watch({}));
  EXPECT_EQ(score.readings, 43200);
  EXPECT_EQ(score.false_alarms, 0) << score.first_fault;
  EXPECT_EQ(score.missed, 0) << score.first_fault;
  EXPECT_GT(score.stalls, 20);
}

// The judge must be able to fail.
TEST(EngineDayJudge, SeesADetectorThatKnowsNoLongPrompts) {
  EngineWindows hasty;
  hasty.long_ns = hasty.longest_ns = kInterval;
  int false_alarms = 0;
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    false_alarms +=
        judge({DayKind::Engine::kOld, DayKind::Ras::kNone}, seed, 2, real_watch(hasty)).false_alarms;
  }
  EXPECT_GT(false_alarms, 10);
}

TEST(EngineDayJudge, SeesADetectorThatSleeps) {
  const Score score = judge(kKinds[0], 1, 2, [](EngineDay&, std::int64_t) { return model::State::kUnknown; });
  EXPECT_GT(score.stalls, 3);
  EXPECT_GE(score.missed, score.stalls - 1);
}

TEST(EngineDayJudge, SeesADetectorThatIsLate) {
  int late = 0;
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    int for_rounds = 0;
    const Watch watch = real_watch({});
    late += judge(kKinds[0], seed, 2, [&](EngineDay& day, std::int64_t before) {
              const bool stopped = watch(day, before) == model::State::kStopped;
              for_rounds = stopped ? for_rounds + 1 : 0;
              return for_rounds > 3 ? model::State::kStopped : model::State::kUnknown;
            }).late;
  }
  EXPECT_GT(late, 0);
}

TEST(EngineDayJudge, SeesADetectorThatBelievesBlindCounts) {
  int false_alarms = 0;
  const Score score =
      judge({DayKind::Engine::kVllm, DayKind::Ras::kGraphs}, 3, 2, [&](EngineDay& day, std::int64_t before) {
        const auto ras = day.ras(before);
        return ras && ras->movement == RasMovement::kStanding ? model::State::kStopped
                                                              : model::State::kAdvancing;
      });
  false_alarms += score.false_alarms;
  EXPECT_GT(false_alarms, 100);
}

}  // namespace
}  // namespace unhang::detect
