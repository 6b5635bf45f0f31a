// SPDX-License-Identifier: Apache-2.0
//
// Causes before consequences, whoever writes first, and the same answer whatever the files are called.
#include <algorithm>
#include <functional>

#include <gtest/gtest.h>

#include "detect/log_case_for_tests.h"

namespace unhang::detect {
namespace {

using model::LogEventKind;

// The parts of an incident, each of them a file; `names` gives their order.
using Part = std::function<void(LogCase&)>;

std::string verdict_of(const std::vector<Part>& parts, const std::vector<std::string>& names) {
  LogCase c;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    c.file(names[i]);
    parts[i](c);
  }
  return c.verdict();
}

// In every order of the files.
void expect_in_any_order(const std::vector<Part>& parts, const std::string& verdict) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < parts.size(); ++i) names.push_back(std::string(1, static_cast<char>('a' + i)));
  do {
    EXPECT_EQ(verdict_of(parts, names), verdict) << names.front();
  } while (std::next_permutation(names.begin(), names.end()));
}

Part waits(std::vector<std::int32_t> ranks) {
  return [ranks = std::move(ranks)](LogCase& c) {
    c.give_up(ranks, {.operation = "_ALLGATHER_BASE", .in = 100, .out = 800});
  };
}

Part says(Writer origin, LogEventKind kind, Said said) {
  return [origin = std::move(origin), kind, said = std::move(said)](LogCase& c) {
    c.by(origin).says(kind, said);
  };
}

TEST(LogOrder, ALostGpuBeforeTheTimeouts) {
  expect_in_any_order({waits({0, 1, 2, 4, 5, 6, 7}),
                       says({.host = "node1"}, LogEventKind::kXid, {.code = 79, .subject = "0000:b3:00"}),
                       says({.host = "node1"}, LogEventKind::kXid, {.code = 45, .subject = "0000:b3:00"})},
                      "process_or_device_unavailable/gpu_fallen_off_bus medium: gpu 0000:b3:00 of node1");
}

TEST(LogOrder, AnOutOfMemoryKillBeforeTheClosedConnection) {
  expect_in_any_order(
      {says({.host = "node1"}, LogEventKind::kConnectionClosed, {.peer = "node2<4000>"}),
       says({.host = "node2"}, LogEventKind::kOutOfMemoryKill, {.code = 15617, .subject = "python3"}),
       [](LogCase& c) {
         c.by({}).says(LogEventKind::kProcessExit, {.code = -9, .rank = 9, .detail = "root"});
         c.says(LogEventKind::kProcessExit, {.code = -15, .rank = 0});
         c.says(LogEventKind::kProcessSignalled, {.code = 15});
       }},
      "process_or_device_unavailable/oom_killed medium: rank 9");
}

TEST(LogOrder, ALinkBeforeTheCompletionsAndTheFlushes) {
  expect_in_any_order(
      {says({.host = "node1"}, LogEventKind::kCompletionError,
            {.code = 5, .subject = "mlx5_0", .peer = "10.0.0.2<1>"}),
       says({.host = "node1"}, LogEventKind::kCompletionError,
            {.code = 12, .subject = "mlx5_0", .peer = "10.0.0.2<1>"}),
       says({.host = "node2"}, LogEventKind::kLinkDown, {.subject = "mlx5_3"}), waits({0, 1, 2, 3})},
      "transport_stall/link_down medium: nic mlx5_3 of node2");
}

TEST(LogOrder, GpuMemoryBeforeTheNetwork) {
  expect_in_any_order(
      {says({.global_rank = 5}, LogEventKind::kCudaOutOfMemory, {.subject = "torch.OutOfMemoryError"}),
       says({.host = "node1"}, LogEventKind::kCompletionError,
            {.code = 12, .subject = "mlx5_0", .peer = "10.0.0.2<1>"}),
       says({.host = "node1"}, LogEventKind::kNcclError, {.code = 6}), waits({0, 1, 2, 3})},
      "process_or_device_unavailable/cuda_oom medium: rank 5");
}

TEST(LogOrder, AnExceptionBeforeTheTimeoutsItMade) {
  expect_in_any_order(
      {says({.global_rank = 3}, LogEventKind::kException,
            {.rank = 3, .subject = "ValueError", .detail = "bad batch"}),
       waits({0, 1}), says({.host = "node1"}, LogEventKind::kGlooClosed, {.peer = "10.0.0.2"})},
      "process_or_device_unavailable/process_exited low ? rank 3");
}

// A dump signal names the first rank that gave up: a victim.
TEST(LogOrder, TheRankOfADumpSignalIsNotBlamed) {
  LogCase c;
  c.give_up({0, 1, 3}, {.operation = "_ALLGATHER_BASE", .in = 100, .out = 400});
  c.by_rank(1).says(LogEventKind::kDumpSignal, {.rank = 3});
  EXPECT_EQ(c.verdict(), "collective_desync/rank_not_entered low ? rank 2");
  LogCase alone;
  alone.by_rank(1).says(LogEventKind::kDumpSignal, {.rank = 3});
  EXPECT_EQ(alone.verdict(), "inconclusive/unknown low");
}

// A note about a link that recovered does not stand before a cause.
TEST(LogOrder, ANonfatalLinkErrorAfterWhatIsFirm) {
  expect_in_any_order(
      {says({.host = "node1"}, LogEventKind::kXid, {.code = 145, .rank = 0, .subject = "0000:b3:00"}),
       says({.host = "node2"}, LogEventKind::kOutOfMemoryKill, {.code = 7, .subject = "python3"}),
       waits({0, 1})},
      "process_or_device_unavailable/oom_killed medium: process on node2");
}

// A port that nobody uses beside a fault that somebody felt elsewhere.
TEST(LogOrder, OrdinaryEndsAreNoFaults) {
  LogCase c;
  c.says(LogEventKind::kTrainingStep, {.code = 100}).says(LogEventKind::kTrainingEnd);
  c.says(LogEventKind::kServiceClosed).says(LogEventKind::kStoreClosed);
  EXPECT_EQ(c.verdict(), "healthy/unknown low");
  LogCase engine;
  engine.says(LogEventKind::kPluginMissing).says(LogEventKind::kNoHca);
  engine.says(LogEventKind::kEngineReady).says(LogEventKind::kRequestProgress, {.code = 1});
  EXPECT_EQ(engine.verdict(), "healthy/unknown low");
  EXPECT_EQ(engine.diagnosed().state, model::State::kAdvancing);
}

// Of two runs in one file the one before the restart is history.
TEST(LogOrder, TheLastRunOfAFile) {
  LogCase c;
  c.by({.host = "node1"}).says(LogEventKind::kInterfaceMissing, {.subject = "eth7"});
  c.run_number(1).give_up({0, 1, 2, 3}, {.operation = "_ALLGATHER_BASE", .in = 100, .out = 400});
  EXPECT_EQ(c.verdict(), "transport_stall/unknown low");
}

// The same facts, written down in another order of the files, give the same verdict to the letter.
TEST(LogOrder, TheOrderOfTheInputsDoesNotMatter) {
  const std::vector<std::pair<std::string, Part>> parts = {
      {"a", waits({0, 1, 2})},
      {"b", says({.host = "node1"}, LogEventKind::kCompletionError, {.code = 12, .peer = "10.0.0.2<1>"})},
      {"c", says({.host = "node2"}, LogEventKind::kCompletionError, {.code = 5, .peer = "10.0.0.1<1>"})},
      {"d", says({.host = "node2"}, LogEventKind::kLinkDown, {.subject = "mlx5_3"})}};
  std::vector<std::size_t> order = {0, 1, 2, 3};
  std::string first;
  do {
    LogCase c;
    for (const std::size_t i : order) {
      c.file(parts[i].first);
      parts[i].second(c);
    }
    const model::Verdict v = c.diagnosed();
    std::string all = c.verdict() + "\n" + v.headline + "\n";
    for (const auto& item : v.evidence)
      all += item.file + ":" + std::to_string(item.line.value_or(0)) + " " + item.text + "\n";
    for (const auto& finding : v.findings) all += finding.id + " " + finding.text + "\n";
    for (const auto& other : v.alternatives) all += std::string(other.cause) + " " + other.decide_by + "\n";
    if (first.empty()) first = all;
    EXPECT_EQ(all, first);
  } while (std::next_permutation(order.begin(), order.end()));
  EXPECT_NE(first.find("d:1 link_down"), std::string::npos) << first;
}

}  // namespace
}  // namespace unhang::detect
