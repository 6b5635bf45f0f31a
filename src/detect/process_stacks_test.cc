// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "detect/case_builder_for_tests.h"
#include "detect/detector.h"
#include "detect/process_looks.h"
#include "detect/resolve.h"
#include "detect/stack_reason.h"

namespace unhang::detect {
namespace {

using model::Category;
using model::Confidence;
using Frames = std::vector<model::StackFrame>;

model::StackFrame frame(std::string function, std::string file) {
  return {std::move(function), std::move(file), 7, true};
}
Frames in_collective() {
  return {frame("all_reduce", "torch/distributed/distributed_c10d.py"), frame("step", "train.py")};
}
Frames in_loader() {
  return {frame("wait", "threading.py"), frame("_next_data", "torch/utils/data/dataloader.py"),
          frame("step", "train.py")};
}
Frames in_init() {
  return {frame("init_process_group", "torch/distributed/distributed_c10d.py")};
}
Frames in_own_code() {
  return {frame("think", "train.py")};
}
Frames idle() {
  return {frame("acquire_read", "vllm/distributed/device_communicators/shm_broadcast.py")};
}

// One look at each rank; `seconds`: when.
void look(model::Case& joined, const std::vector<Frames>& stacks, std::int64_t seconds = 100) {
  if (joined.inputs.empty()) joined.inputs.push_back({"stacks.txt", "py_spy", {}});
  for (std::size_t rank = 0; rank < stacks.size(); ++rank) {
    model::ProcessReading reading;
    reading.sample.rank = static_cast<std::int32_t>(rank);
    reading.sample.pid = 4000 + static_cast<std::int64_t>(rank);
    reading.sample.host = "n1";
    reading.sample.taken_ns = seconds * 1'000'000'000;
    model::ThreadSample& thread = reading.sample.threads.emplace_back();
    thread.is_main = true;
    thread.source = model::StackSource::kPySpy;
    thread.frames = stacks[rank];
    joined.processes.push_back(std::move(reading));
  }
  std::stable_sort(joined.processes.begin(), joined.processes.end(), [](const auto& a, const auto& b) {
    return std::pair(a.sample.pid, *a.sample.taken_ns) < std::pair(b.sample.pid, *b.sample.taken_ns);
  });
}

TEST(ProcessStacks, OneInItsDataLoaderWhileTheOthersWait) {
  model::Case joined;
  look(joined, {in_collective(), in_collective(), in_loader(), in_collective()});
  const model::Verdict once = diagnose(joined);
  EXPECT_EQ(once.category, Category::kCollectiveDesync);
  EXPECT_EQ(once.cause, "rank_not_entered");
  EXPECT_EQ(once.root, "host_blocked");
  EXPECT_EQ(once.confidence, Confidence::kLow);
  EXPECT_EQ(once.state, model::State::kUnknown);
  EXPECT_TRUE(once.culprits.empty());
  ASSERT_EQ(once.suspects.size(), 1u);
  EXPECT_EQ(once.suspects[0].rank, 2);
  EXPECT_EQ(
      once.headline,
      "rank 2 is waiting for its data loader, in _next_data (dataloader.py:7), while ranks 0,1,3 wait in a "
      "collective or for the GPU, in one look: look again");
  // The same again half a minute later: it stands.
  look(joined, {in_collective(), in_collective(), in_loader(), in_collective()}, 130);
  const model::Verdict twice = diagnose(joined);
  EXPECT_EQ(twice.confidence, Confidence::kMedium);
  EXPECT_EQ(twice.state, model::State::kStopped);
  ASSERT_EQ(twice.culprits.size(), 1u);
  EXPECT_EQ(twice.culprits[0].rank, 2);
  EXPECT_EQ(twice.culprits[0].pid, 4002);
}

TEST(ProcessStacks, ALaterLookElsewhereIsNoHang) {
  model::Case joined;
  look(joined, {in_collective(), in_collective(), in_loader()});
  look(joined, {in_collective(), in_own_code(), in_collective()}, 130);
  const model::Verdict verdict = diagnose(joined);
  EXPECT_EQ(verdict.confidence, Confidence::kLow);
  EXPECT_EQ(verdict.state, model::State::kUnknown);
  EXPECT_TRUE(verdict.culprits.empty());
}

TEST(ProcessStacks, CodeThatSaysNothingMakesASuspectOnly) {
  model::Case joined;
  for (const std::int64_t seconds : {100, 130})
    look(joined, {in_collective(), in_own_code(), in_collective(), in_collective()}, seconds);
  const model::Verdict verdict = diagnose(joined);
  EXPECT_EQ(verdict.cause, "rank_not_entered");
  EXPECT_EQ(verdict.root, "");
  EXPECT_TRUE(verdict.culprits.empty());
  ASSERT_EQ(verdict.suspects.size(), 1u);
  EXPECT_EQ(verdict.suspects[0].rank, 1);
}

TEST(ProcessStacks, WhereHalfIsElsewhereNobodyIsOdd) {
  model::Case joined;
  look(joined, {in_collective(), in_own_code(), in_collective(), in_own_code()});
  EXPECT_TRUE(find_process_stacks(analyse(joined)).empty());
  EXPECT_EQ(diagnose(joined).category, Category::kInconclusive);
}

TEST(ProcessStacks, AllInInitialisation) {
  model::Case joined;
  look(joined, {in_init(), in_init(), in_init()});
  EXPECT_EQ(diagnose(joined).category, Category::kInitializationHang);
  EXPECT_EQ(diagnose(joined).cause, "unknown");
  EXPECT_EQ(diagnose(joined).state, model::State::kStarting);
  model::Case with_absent;
  look(with_absent, {in_init(), in_loader(), in_init()});
  const model::Verdict verdict = diagnose(with_absent);
  EXPECT_EQ(verdict.cause, "rank_never_joined");
  ASSERT_EQ(verdict.suspects.size(), 1u);
  EXPECT_EQ(verdict.suspects[0].rank, 1);
}

TEST(ProcessStacks, WaitingForRequestsIsIdle) {
  model::Case joined;
  look(joined, {idle(), idle()});
  const model::Verdict verdict = diagnose(joined);
  EXPECT_EQ(verdict.category, Category::kNotCommunication);
  EXPECT_EQ(verdict.state, model::State::kIdle);
  EXPECT_EQ(verdict.confidence, Confidence::kLow);
}

TEST(ProcessStacks, AllWaitingIsWhatABusyJobShowsToo) {
  model::Case joined;
  look(joined, {in_collective(), in_collective()});
  EXPECT_EQ(diagnose(joined).category, Category::kTransportStall);
  EXPECT_EQ(diagnose(joined).state, model::State::kUnknown);
  EXPECT_EQ(diagnose(joined).confidence, Confidence::kLow);
}

TEST(ProcessStacks, AProcessThatWasStoppedIsNamed) {
  model::Case joined;
  look(joined, {in_collective(), in_own_code(), in_collective()});
  joined.processes[1].sample.state = 'T';
  const model::Verdict verdict = diagnose(joined);
  EXPECT_EQ(verdict.category, Category::kProcessOrDeviceUnavailable);
  EXPECT_EQ(verdict.cause, "process_stopped");
  ASSERT_EQ(verdict.culprits.size(), 1u);
  EXPECT_EQ(verdict.culprits[0].rank, 1);
}

// As a capture takes them: /proc and py-spy first, /proc and gdb some seconds later.
TEST(ProcessStacks, NativeStacksBehindPythonsDoNotHideThem) {
  model::Case joined;
  look(joined, {in_collective(), in_loader(), in_collective()});
  model::StackFrame native{"clock_nanosleep", "libc.so.6", 0, false};
  look(joined, {{native}, {native}, {native}}, 108);
  const model::Verdict verdict = diagnose(joined);
  EXPECT_EQ(verdict.cause, "rank_not_entered");
  EXPECT_EQ(verdict.root, "host_blocked");
  look(joined, {in_collective(), in_own_code(), in_collective()}, 109);
  EXPECT_EQ(diagnose(joined).root, "") << "what Python does now is known";
}

TEST(ProcessStacks, AProcessAloneThatWasStoppedIsNamedToo) {
  model::Case joined;
  look(joined, {in_own_code()});
  joined.processes[0].sample.state = 'T';
  joined.processes[0].sample.rank = -1;
  const model::Verdict verdict = diagnose(joined);
  EXPECT_EQ(verdict.cause, "process_stopped");
  EXPECT_EQ(verdict.confidence, Confidence::kMedium);
  EXPECT_EQ(verdict.state, model::State::kStopped);
  EXPECT_EQ(verdict.headline, "process 4000 on n1 is stopped by a signal (state T)");
  std::vector<std::string> commands;
  for (const model::RecoveryStep& step : verdict.recovery.steps) commands.push_back(step.command);
  for (const char* wanted : {"grep -E 'State|TracerPid' /proc/4000/status", "kill -CONT 4000"})
    EXPECT_NE(std::find(commands.begin(), commands.end(), wanted), commands.end()) << wanted;
}

TEST(ProcessStacks, ALauncherThatIsStoppedStopsNobody) {
  model::Case joined;
  look(joined, {in_collective(), in_own_code(), in_collective()});
  joined.processes[1].sample.rank = -1;
  joined.processes[1].sample.state = 'T';
  const model::Verdict verdict = diagnose(joined);
  EXPECT_EQ(verdict.confidence, Confidence::kLow);
  EXPECT_EQ(verdict.state, model::State::kUnknown);
}

TEST(ProcessStacks, ADebuggerCountsWhenItIsSeenTwice) {
  model::Case joined;
  look(joined, {in_collective(), in_own_code(), in_collective()});
  joined.processes[1].sample.state = 't';
  EXPECT_EQ(diagnose(joined).cause, "process_stopped");
  EXPECT_EQ(diagnose(joined).confidence, Confidence::kLow);
  EXPECT_TRUE(diagnose(joined).culprits.empty());
  look(joined, {in_collective(), in_own_code(), in_collective()}, 101);
  for (auto& reading : joined.processes) {
    if (reading.sample.rank == 1) reading.sample.state = 't';
  }
  const model::Verdict verdict = diagnose(joined);
  EXPECT_EQ(verdict.confidence, Confidence::kMedium);
  ASSERT_EQ(verdict.culprits.size(), 1u);
  EXPECT_EQ(verdict.culprits[0].why, "is held by a debugger");
}

// One that has ended, below the same launcher as the ranks.
model::Case with_dead(std::vector<Frames> stacks, const std::string& program) {
  model::Case joined;
  look(joined, stacks);
  model::ProcessReading dead = joined.processes.back();
  for (auto& reading : joined.processes) {
    reading.sample.program = "python3";
    reading.sample.parent = 3999;
  }
  dead.sample.pid = 4900;
  dead.sample.rank = -1;
  dead.sample.parent = 3999;
  dead.sample.state = 'Z';
  dead.sample.program = program;
  dead.sample.threads[0].frames.clear();
  joined.processes.push_back(std::move(dead));
  return joined;
}

TEST(ProcessStacks, ADeadOneForWhichTheOthersWaitIsTheCulprit) {
  const model::Verdict verdict = diagnose(with_dead({in_collective(), in_collective()}, "python3"));
  EXPECT_EQ(verdict.category, Category::kProcessOrDeviceUnavailable);
  EXPECT_EQ(verdict.cause, "process_exited");
  EXPECT_EQ(verdict.confidence, Confidence::kMedium);
  EXPECT_EQ(verdict.headline,
            "process 4900 on n1 has ended (state Z), while ranks 0,1 wait for others or for the GPU");
  ASSERT_EQ(verdict.culprits.size(), 1u);
  EXPECT_EQ(verdict.culprits[0].pid, 4900);
}

TEST(ProcessStacks, ADeadOneThatNobodyWaitsForIsALead) {
  const model::Verdict verdict = diagnose(with_dead({in_own_code(), in_own_code()}, "python3"));
  EXPECT_EQ(verdict.cause, "process_exited");
  EXPECT_EQ(verdict.confidence, Confidence::kLow);
  EXPECT_EQ(model::exit_code(verdict), 3);
  EXPECT_TRUE(verdict.culprits.empty());
  ASSERT_EQ(verdict.suspects.size(), 1u);
}

TEST(ProcessStacks, ADeadToolIsNoRank) {
  EXPECT_NE(diagnose(with_dead({in_collective(), in_collective()}, "nvidia-smi")).cause, "process_exited");
}

TEST(ProcessStacks, WhereNothingIsCertainItSaysWhatTheyDo) {
  model::Case joined;
  look(joined, {in_collective(), in_own_code(), in_collective(), in_own_code()});
  EXPECT_EQ(
      diagnose(joined).headline,
      "of 4 processes 2 are waiting in a collective, 2 are in code that unhang does not know; that alone "
      "shows no hang");
  // Lines of logs that say nothing do not take its place.
  joined.logs.lines = 900;
  joined.logs.recognised = 2;
  joined.logs.nccl_lines = 1;
  EXPECT_EQ(diagnose(joined).headline.substr(0, 14), "of 4 processes");
}

TEST(ProcessStacks, WhatToDoNextIsPossible) {
  const auto first_step = [](const model::Case& joined) {
    const model::Verdict verdict = diagnose(joined);
    return verdict.recovery.steps.empty() ? std::string() : verdict.recovery.steps[0].command;
  };
  model::Case joined;
  look(joined, {in_collective(), in_own_code(), in_collective(), in_own_code()});
  for (auto& reading : joined.processes) {
    reading.sample.state = 'S';
    reading.sample.parent = 4000;
  }
  joined.processes[0].sample.parent = 1;
  EXPECT_EQ(first_step(joined), "unhang attach 4000");
  model::BundleManifest& bundle = joined.bundles.emplace_back();
  bundle.sources.push_back({.id = "ras-1", .kind = "ras", .status = model::SourceStatus::kRefused});
  EXPECT_EQ(first_step(joined), "unhang attach 4000");
  for (auto& reading : joined.processes) reading.sample.state = 'Z';
  EXPECT_EQ(first_step(joined).find("unhang ras"), std::string::npos);
}

// What a capture without any tool has: /proc twice.
TEST(ProcessStacks, AWaitThatCannotBeWokenStandsWithoutFrames) {
  model::Case joined;
  for (const std::int64_t seconds : {100, 108}) look(joined, {{}, in_collective(), in_collective()}, seconds);
  for (auto& reading : joined.processes) {
    if (reading.sample.rank != 0) continue;
    reading.sample.threads[0].state = 'D';
    reading.sample.threads[0].wait_channel = "rpc_wait_bit_killable";
  }
  const model::Verdict verdict = diagnose(joined);
  EXPECT_EQ(verdict.cause, "rank_not_entered");
  EXPECT_EQ(verdict.root, "host_blocked");
  EXPECT_EQ(verdict.confidence, Confidence::kMedium);
  ASSERT_EQ(verdict.culprits.size(), 1u);
  EXPECT_EQ(verdict.culprits[0].rank, 0);
  EXPECT_EQ(verdict.culprits[0].why, "is waiting for a network file system, in rpc_wait_bit_killable");
}

TEST(ProcessStacks, HelpersAndSingleProcessesProveNothing) {
  model::Case one;
  look(one, {in_loader()});
  EXPECT_TRUE(find_process_stacks(analyse(one)).empty());
  model::Case joined;
  look(joined,
       {in_collective(), in_collective(), {frame("_worker_loop", "torch/utils/data/_utils/worker.py")}});
  EXPECT_EQ(latest_looks(joined).size(), 2u);
}

// Dumps say who is missing; the stack says why.
TEST(StackReason, TellsWhatTheMissingRankDoes) {
  CaseBuilder c(3);
  const auto world = c.group("0", "default_pg", {0, 1, 2});
  c.done(world, "all_reduce").done(world, "all_reduce").open(world, "all_reduce", {0, 2});
  model::Case joined = c.take();
  model::Case stacks;
  look(stacks, {in_collective(), in_loader(), in_collective()}, 1'800'000'000);
  joined.processes = stacks.processes;
  const model::Verdict verdict = diagnose(joined);
  EXPECT_EQ(verdict.category, Category::kCollectiveDesync);
  EXPECT_EQ(verdict.cause, "rank_not_entered");
  EXPECT_EQ(verdict.root, "host_blocked");
  EXPECT_NE(verdict.headline.find("; rank 1 is waiting for its data loader"), std::string::npos)
      << verdict.headline;
}

TEST(StackReason, WhoIsNamedByALogAloneIsFoundAsWell) {
  model::Case joined;
  look(joined, {in_collective(), in_loader(), in_collective()});
  Explanation told;
  told.category = Category::kCollectiveDesync;
  told.cause = "rank_not_entered";
  told.headline = "rank 1 lags";
  told.other_culprits.emplace_back().rank = 1;
  const auto found = with_stack_reason(joined, told);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->root, "host_blocked");
  EXPECT_EQ(found->headline,
            "rank 1 lags; rank 1 is waiting for its data loader, in _next_data (dataloader.py:7)");
  told.other_culprits[0].rank = 5;
  EXPECT_FALSE(with_stack_reason(joined, told));
  told.other_culprits[0].rank = 1;
  told.root = "application_error";
  EXPECT_FALSE(with_stack_reason(joined, told));
}

TEST(StackReason, ARankWithoutADumpThatWorksIsAlive) {
  CaseBuilder c(3);
  const auto world = c.group("0", "default_pg", {0, 1, 2});
  c.done(world, "all_reduce").open(world, "all_reduce", {0, 2}).silent(1);
  model::Case joined = c.take();
  model::Case stacks;
  look(stacks, {in_collective(), in_loader(), in_collective()}, 1'800'000'000);
  joined.processes = stacks.processes;
  const model::Verdict verdict = diagnose(joined);
  EXPECT_EQ(verdict.category, Category::kCollectiveDesync);
  EXPECT_EQ(verdict.cause, "rank_not_entered");
  EXPECT_EQ(verdict.root, "host_blocked");
  EXPECT_EQ(verdict.confidence, Confidence::kMedium);
}

TEST(StackReason, ALookFromBeforeTheStallIsNone) {
  CaseBuilder c(3);
  const auto world = c.group("0", "default_pg", {0, 1, 2});
  c.done(world, "all_reduce").open(world, "all_reduce", {0, 2});
  model::Case joined = c.take();
  model::Case stacks;
  look(stacks, {in_collective(), in_loader(), in_collective()}, 100);
  joined.processes = stacks.processes;
  EXPECT_EQ(diagnose(joined).root, "");
}

TEST(StackReason, CodeThatSaysNothingIsShownAndNoReason) {
  CaseBuilder c(3);
  const auto world = c.group("0", "default_pg", {0, 1, 2});
  c.done(world, "all_reduce").open(world, "all_reduce", {0, 2});
  model::Case joined = c.take();
  model::Case stacks;
  look(stacks, {in_collective(), in_own_code(), in_collective()}, 1'800'000'000);
  joined.processes = stacks.processes;
  const model::Verdict verdict = diagnose(joined);
  EXPECT_EQ(verdict.root, "");
  EXPECT_NE(verdict.headline.find("in think (train.py:7)"), std::string::npos) << verdict.headline;
}

}  // namespace
}  // namespace unhang::detect
