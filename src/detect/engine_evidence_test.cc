// SPDX-License-Identifier: Apache-2.0
#include "detect/engine_evidence.h"

#include <gtest/gtest.h>

#include "detect/detector.h"
#include "detect/ras_view_for_tests.h"
#include "detect/resolve.h"

namespace unhang::detect {
namespace {

using model::Category;
using model::State;

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kStart = 1'790'000'000 * kSecond;

// A reading of a vLLM page: requests that run, tokens and steps so far.
model::EngineReading reading(std::int64_t second, double running, double tokens) {
  model::EngineReading out;
  out.engine = "http://127.0.0.1:8000";
  out.time_ns = kStart + second * kSecond;
  out.sample.engine = model::EngineKind::kVllm;
  model::EngineSeries series;
  series.running = running;
  series.waiting = 0;
  series.generation_tokens = tokens;
  series.prompt_tokens = 1000;
  series.steps = tokens;
  out.sample.series.push_back(series);
  return out;
}

model::Case engine_case(std::vector<model::EngineReading> readings) {
  model::Case out;
  out.inputs.push_back({"metrics.txt", "engine_metrics", {}});
  out.engine_readings = std::move(readings);
  return out;
}

TEST(EngineEvidence, TokensAreTheBestSignOfLife) {
  const auto verdict = diagnose(engine_case({reading(0, 3, 100), reading(2, 3, 140), reading(4, 3, 180)}));
  EXPECT_EQ(verdict.category, Category::kHealthy);
  EXPECT_EQ(verdict.state, State::kAdvancing);
  ASSERT_EQ(verdict.progress.size(), 1u);
  EXPECT_TRUE(verdict.progress[0].usable);
}

TEST(EngineEvidence, NothingToDoIsIdle) {
  const auto verdict = diagnose(engine_case({reading(0, 0, 100), reading(60, 0, 100)}));
  EXPECT_EQ(verdict.state, State::kIdle);
  EXPECT_EQ(exit_code(verdict), 0);
}

TEST(EngineEvidence, WithoutTimesNothingIsSaidToStand) {
  auto first = reading(0, 3, 100);
  auto second = reading(60, 3, 100);
  first.time_ns.reset();
  second.time_ns.reset();
  const auto verdict = diagnose(engine_case({first, second}));
  EXPECT_EQ(verdict.category, Category::kInconclusive);
  EXPECT_EQ(verdict.state, State::kUnknown);
}

TEST(EngineStall, AloneItSaysThatItStandsAndNotWhere) {
  const auto verdict = diagnose(engine_case({reading(0, 3, 100), reading(2, 3, 140), reading(90, 3, 140)}));
  EXPECT_EQ(verdict.category, Category::kInconclusive);
  EXPECT_EQ(verdict.state, State::kStopped);
  EXPECT_TRUE(verdict.culprits.empty());
  EXPECT_EQ(verdict.findings.at(0).id, "engine_stall-1");
}

TEST(EngineStall, WithEqualCountsThatStandItIsAStallThatAllShare) {
  const auto world = fixture::communicator(0xa, 8, 100);
  auto joined = fixture::ras_case(
      {fixture::view({world}, kStart + 2 * kSecond), fixture::view({world}, kStart + 90 * kSecond)});
  joined.engine_readings = {reading(0, 3, 100), reading(2, 3, 140), reading(90, 3, 140)};
  const auto verdict = diagnose(joined);
  EXPECT_EQ(verdict.category, Category::kTransportStall);
  EXPECT_EQ(verdict.state, State::kStopped);
  EXPECT_TRUE(verdict.culprits.empty());
}

// What CUDA graphs replay is not counted: counts differ and stand while tokens are made.
TEST(EngineStall, CountsThatStandProveNothingWhileTokensAreMade) {
  auto world = fixture::communicator(0xa, 8, 100);
  fixture::set_count(world, 5, model::RasCollective::kAllReduce, 99);
  auto joined =
      fixture::ras_case({fixture::view({world}, kStart), fixture::view({world}, kStart + 60 * kSecond)});
  EXPECT_EQ(diagnose(joined).category, Category::kCollectiveDesync);
  joined.engine_readings = {reading(0, 3, 100), reading(30, 3, 400), reading(60, 3, 800)};
  const auto verdict = diagnose(joined);
  EXPECT_EQ(verdict.category, Category::kHealthy);
  EXPECT_EQ(verdict.state, State::kAdvancing);
  EXPECT_TRUE(verdict.culprits.empty());
}

}  // namespace
}  // namespace unhang::detect
