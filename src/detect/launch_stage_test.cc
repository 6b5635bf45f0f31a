// SPDX-License-Identifier: Apache-2.0
#include "detect/launch_stage.h"

#include <gtest/gtest.h>

#include "detect/launch_frames.h"
#include "detect/launch_trials.h"
#include "detect/log_case_for_tests.h"
#include "detect/ras_view_for_tests.h"

namespace unhang::detect {
namespace {

using model::CommunicatorPhase;
using model::LaunchFacts;
using model::LaunchMovement;
using model::LaunchPlace;
using model::LaunchRun;
using model::LogEventKind;

// At the limit of 10 s, silent for 8.
LaunchFacts hanging() {
  LaunchFacts facts;
  facts.limit_s = facts.ran_s = 10;
  facts.silent_s = 8;
  facts.nccl_quiet_s = 8;
  facts.output_bytes = 100;
  facts.processes = 2;
  return facts;
}

std::string told(const model::Case& joined, const LaunchFacts& facts = hanging()) {
  const model::LaunchStage stage = judge_launch(&joined, facts);
  return std::string(name_of(stage.place)) + " " + std::string(name_of(stage.movement)) +
         (stage.doing.empty() ? "" : ": " + stage.doing);
}

struct Frame {
  std::string function, file;
};
// Python's, innermost first.
model::Case with_stack(model::Case joined, std::vector<Frame> frames, std::string thread = "MainThread",
                       std::int64_t pid = 41) {
  model::ProcessReading reading;
  if (joined.inputs.empty()) joined.inputs.push_back({"stacks", "stacks", {}});
  reading.sample.pid = pid;
  model::ThreadSample sample;
  sample.thread = pid;
  sample.is_main = thread == "MainThread";
  sample.name = std::move(thread);
  for (Frame& frame : frames) {
    const bool python = frame.file.ends_with(".py");
    sample.frames.push_back(
        {.function = std::move(frame.function), .file = std::move(frame.file), .line = 0, .python = python});
  }
  reading.sample.threads.push_back(std::move(sample));
  joined.processes.push_back(std::move(reading));
  return joined;
}
const Frame kMain{"main", "serve.py"};
const Frame kWeights{"load_weights", "vllm/model_executor/models/llama.py"};
const Frame kAllReduce{"all_reduce", "torch/distributed/distributed_c10d.py"};

TEST(LaunchStage, NativeStacksBehindPythonsDoNotHideThem) {
  model::Case joined = with_stack({}, {{"load_weights", "/opt/vllm/model_executor/models/llama.py"}, kMain});
  EXPECT_EQ(told(joined), "before_nccl silent: loading weights");
  joined = with_stack(std::move(joined),
                      {{"clock_nanosleep", "libc.so.6"}, {"_PyEval_EvalFrameDefault", "python3.11"}});
  EXPECT_EQ(told(joined), "before_nccl silent: loading weights");
  joined = with_stack(std::move(joined), {{"think", "train.py"}, kMain});
  EXPECT_EQ(told(joined), "before_nccl silent") << "what Python does now is known";
}

TEST(LaunchStage, WithoutALineOfNcclItIsBeforeNccl) {
  EXPECT_EQ(told(model::Case{}), "before_nccl silent");
}

TEST(LaunchStage, AnOpenCommunicatorIsInitialisation) {
  LogCase c;
  c.file("a.log").by({.host = "n", .pid = 1});
  c.communicator({.rank = 0, .ranks = 2, .reached = CommunicatorPhase::kConnecting});
  c.file("b.log").by({.host = "n", .pid = 2});
  c.communicator({.rank = 1, .ranks = 2, .reached = CommunicatorPhase::kConnecting});
  EXPECT_EQ(told(c.joined()), "nccl_init standing: connecting channels");
}

TEST(LaunchStage, RanksThatNeverCameAreNamed) {
  LogCase c;
  c.file("a.log").by({.host = "n", .pid = 1});
  c.communicator({.rank = 0, .ranks = 3, .reached = CommunicatorPhase::kStarted});
  const model::Case joined = c.joined();
  const model::LaunchStage stage = judge_launch(&joined, hanging());
  EXPECT_EQ(stage.place, LaunchPlace::kNcclInit);
  EXPECT_EQ(stage.missing, (std::vector<std::int32_t>{1, 2}));
  EXPECT_NE(stage.headline.find("rank 1-2 of 3 never checked in"), std::string::npos) << stage.headline;
  ASSERT_FALSE(stage.evidence.empty());
  EXPECT_EQ(stage.evidence[0].file, "a.log");
}

TEST(LaunchStage, WhatWasBegunJustNowDoesNotStand) {
  LogCase c;
  c.file("a.log").by({.host = "n", .pid = 1});
  c.communicator({.rank = 0, .ranks = 2, .reached = CommunicatorPhase::kStarted});
  LaunchFacts facts = hanging();
  facts.nccl_quiet_s = 0.1;
  facts.silent_s = 0.1;
  EXPECT_EQ(told(c.joined(), facts), "nccl_init printing: its ranks look for each other (bootstrap)");
}

LogCase complete() {
  LogCase c;
  c.file("a.log").by({.host = "n", .pid = 1});
  c.communicator({.rank = 0, .ranks = 1});
  return c;
}

TEST(LaunchStage, WeightsAfterACompleteCommunicator) {
  LogCase c = complete();
  c.file("out.log").says(LogEventKind::kWeightLoading, {.code = 0, .text = "Loading model weights"});
  EXPECT_EQ(told(c.joined()), "after_init silent: loading weights");
  // The same by the stack, without the line.
  EXPECT_EQ(told(with_stack(complete().joined(), {kWeights, kMain})), "after_init silent: loading weights");
}

TEST(LaunchStage, WeightsBeforeNcclAreBeforeNccl) {
  EXPECT_EQ(told(with_stack({}, {kWeights, kMain})), "before_nccl silent: loading weights");
}

TEST(LaunchStage, ACollectiveOnAStackIsTheFirstWhileNothingWasDone) {
  EXPECT_EQ(told(with_stack(complete().joined(), {kAllReduce, kMain})),
            "first_collective silent: in a collective; whether in the first is not known");
  EXPECT_EQ(
      told(with_stack(complete().joined(),
                      {{"ncclTransportP2pSetup", "libnccl.so.2"}, {"ncclAllReduce", "libnccl.so.2"}, kMain})),
      "first_collective standing: connecting channels");
}

TEST(LaunchStage, ACallInNcclsLogIsTheFirstWhileNoneFollows) {
  LogCase c;
  c.file("a.log").by({.host = "n", .pid = 1});
  const std::uint32_t communicator = c.communicator({.rank = 0, .ranks = 1});
  c.call(communicator, 0, "AllReduce", 4);
  EXPECT_EQ(told(c.joined()), "first_collective standing: operations were called, none is known to be done");
  c.call(communicator, 9, "AllReduce", 4);
  EXPECT_EQ(told(c.joined()), "running silent: in a collective");
  LaunchFacts facts = hanging();
  facts.nccl_quiet_s = 0.1;
  EXPECT_EQ(told(c.joined(), facts), "running advancing: collectives are being called");
}

TEST(LaunchStage, ALaterOperationThatTheWatchdogGaveUpOnStands) {
  LogCase c = complete();
  c.file("out.log").by_rank(0).gives_up({.rank = 0, .last_enqueued = 7, .last_completed = 6});
  EXPECT_EQ(told(c.joined()), "running standing: the watchdog gave up on a collective");
}

TEST(LaunchStage, CountsOfRasThatGrowAreProgress) {
  const auto at = [](std::uint64_t count, std::int64_t seconds) {
    model::RasCommunicator communicator = fixture::communicator(0xabc, 2, count);
    return fixture::view({std::move(communicator)}, seconds * LogCase::kSecond);
  };
  EXPECT_EQ(told(fixture::ras_case({at(5, 100), at(9, 101)})),
            "running advancing: collectives are being called");
  EXPECT_EQ(told(fixture::ras_case({at(5, 100), at(5, 101)})), "after_init silent");
}

TEST(LaunchStage, HelperThreadsSayNothing) {
  EXPECT_EQ(told(with_stack(complete().joined(), {kAllReduce}, "pt_nccl_watchdg")), "after_init silent");
}

TEST(LaunchStage, TheStoreIsBeforeNccl) {
  EXPECT_EQ(told(with_stack({}, {{"_store_based_barrier", "torch/distributed/distributed_c10d.py"}, kMain})),
            "before_nccl silent: waiting for other ranks in the store");
}

TEST(LaunchStage, StepsShowThatItWorks) {
  LogCase c = complete();
  c.file("out.log").says(LogEventKind::kTrainingStep, {.code = 7});
  LaunchFacts facts = hanging();
  EXPECT_EQ(told(c.joined(), facts), "running silent");
  facts.silent_s = 0.2;
  EXPECT_EQ(told(c.joined(), facts), "running advancing");
}

TEST(LaunchStage, AnEndByItselfIsSaid) {
  LaunchFacts facts = hanging();
  facts.ended = true;
  facts.exit_code = 3;
  const model::LaunchStage stage = judge_launch(nullptr, facts);
  EXPECT_EQ(stage.movement, LaunchMovement::kEnded);
  EXPECT_EQ(stage.headline,
            "it ended by itself with status 3 after 10.0 s, and NCCL was not reached (or is not used)");
}

TEST(LaunchFrames, TheInnermostKnownFunctionDecides) {
  const auto work = [](std::vector<Frame> frames) {
    return launch_frame(with_stack({}, std::move(frames)).processes[0].sample).work;
  };
  EXPECT_EQ(work({{"c10d::TCPStore::wait", "libtorch_cpu.so"}, {"ncclCommInitRank", "libnccl.so.2"}, kMain}),
            LaunchWork::kStore);
  EXPECT_EQ(work({{"ncclCommInitRank", "libnccl.so.2"}, kMain}), LaunchWork::kNcclInit);
  EXPECT_EQ(work({{"_find_and_load", "<frozen importlib>.py"}, kMain}), LaunchWork::kImport);
  EXPECT_EQ(work({{"my_all_reduce_test", "t.py"}, kMain}), LaunchWork::kUnknown);
}

LaunchRun run_at(LaunchPlace place, std::string change = {}) {
  LaunchRun run;
  run.change = std::move(change);
  run.facts = hanging();
  run.stage.place = place;
  return run;
}

TEST(LaunchTrials, ATrialThatGetsFurtherNamesWhatItHangsOn) {
  LaunchRun trial = run_at(LaunchPlace::kRunning, "NCCL_P2P_DISABLE=1");
  std::string ruled_out;
  EXPECT_EQ(
      trial_outcome(run_at(LaunchPlace::kFirstCollective), trial, &ruled_out),
      "gets further: at work instead of in the first collective. It hangs on direct copies between GPUs "
      "(PCIe, NVLink); look at IOMMU, ACS and the fabric manager; the variable costs speed and is no repair");
  EXPECT_EQ(ruled_out, "");
}

TEST(LaunchTrials, BeforeNcclItsVariablesSayNothing) {
  LaunchRun trial = run_at(LaunchPlace::kBeforeNccl, "NCCL_P2P_DISABLE=1");
  trial.facts.ended = true;
  trial.facts.exit_code = 0;
  std::string ruled_out;
  EXPECT_EQ(
      trial_outcome(run_at(LaunchPlace::kBeforeNccl), trial, &ruled_out),
      "gets further: ended well instead of before NCCL; it did not stand in NCCL, so the program itself "
      "reads this variable, or it was chance: try it again");
  EXPECT_EQ(
      trial_outcome(run_at(LaunchPlace::kBeforeNccl), run_at(LaunchPlace::kBeforeNccl, "NCCL_P2P_DISABLE=1"),
                    &ruled_out),
      "no difference: before NCCL; before NCCL is reached it says nothing of direct copies between GPUs "
      "(PCIe, NVLink)");
  EXPECT_EQ(ruled_out, "");
}

TEST(LaunchTrials, ATrialWithoutADifferenceRulesOut) {
  std::string ruled_out;
  EXPECT_EQ(trial_outcome(run_at(LaunchPlace::kNcclInit),
                          run_at(LaunchPlace::kNcclInit, "NCCL_SHM_DISABLE=1"), &ruled_out),
            "no difference: in NCCL's initialisation");
  EXPECT_EQ(ruled_out, "shared memory between processes (NCCL_SHM_DISABLE=1 made no difference)");
}

TEST(LaunchTrials, AFailureIsNotFurtherThanAHangAtTheSamePlace) {
  LaunchRun trial = run_at(LaunchPlace::kNcclInit, "X=1");
  trial.facts.ended = true;
  trial.facts.exit_code = 1;
  EXPECT_EQ(trial_outcome(run_at(LaunchPlace::kNcclInit), trial, nullptr),
            "does not get as far: ended with status 1, in NCCL's initialisation instead of in NCCL's "
            "initialisation");
}

TEST(LaunchTrials, TheVerdictSaysWhatTheyShowed) {
  model::LaunchReport report;
  report.base = run_at(LaunchPlace::kFirstCollective);
  report.base.stage.headline = "it stands";
  report.trials = {run_at(LaunchPlace::kFirstCollective, "NCCL_SHM_DISABLE=1"),
                   run_at(LaunchPlace::kRunning, "NCCL_P2P_DISABLE=1")};
  report.ruled_out = {"shared memory"};
  report.verdict.emplace();
  report.verdict->headline = "all wait";
  report.verdict->findings.emplace_back();
  conclude_trials(report);
  EXPECT_EQ(report.base.stage.headline,
            "it stands; gets further with NCCL_P2P_DISABLE=1; ruled out: shared memory");
  EXPECT_EQ(report.verdict->headline,
            "all wait; gets further with NCCL_P2P_DISABLE=1; ruled out: shared memory");
  EXPECT_EQ(report.verdict->findings[0].rules_out, report.ruled_out);
}

TEST(LaunchTrials, SpeedIsCompared) {
  LaunchRun base = run_at(LaunchPlace::kRunning), trial = run_at(LaunchPlace::kRunning, "NCCL_ALGO=Ring");
  for (LaunchRun* run : {&base, &trial}) {
    run->facts.ended = true;
    run->facts.exit_code = 0;
    run->facts.throughput_unit = "it/s";
  }
  base.facts.throughput = 10;
  trial.facts.throughput = 5;
  EXPECT_EQ(trial_outcome(base, trial, nullptr), "ends well too, at 50 % of the speed");
}

TEST(LaunchTrials, AVariableThatWasSetAnewIsSeen) {
  LogCase c;
  c.file("a.log").says(LogEventKind::kEnvironment, {.subject = "NCCL_P2P_DISABLE", .detail = "0"});
  c.says(LogEventKind::kEnvironment, {.subject = "NCCL_SHM_DISABLE", .detail = "1"});
  const auto notes =
      set_anew(c.joined(), {{"NCCL_P2P_DISABLE", "1"}, {"NCCL_SHM_DISABLE", "1"}, {"NCCL_ALGO", "Ring"}});
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_EQ(notes[0], "NCCL read NCCL_P2P_DISABLE=0, not 1: something inside the processes sets it");
}

std::string ideas(const model::Case& joined, const model::LaunchStage& stage, std::string cause = "unknown") {
  model::Verdict verdict;
  verdict.cause = cause;
  std::string why, all;
  for (const TrialIdea& idea : suggest_trials(&joined, stage, &verdict, 3, &why)) all += idea.change + " ";
  return all.empty() ? why : all;
}

TEST(LaunchTrials, AreSuggestedByPlaceAndCause) {
  const model::Case joined = complete().joined();
  model::LaunchStage stage;
  stage.place = LaunchPlace::kFirstCollective;
  EXPECT_EQ(ideas(joined, stage), "NCCL_P2P_DISABLE=1 NCCL_SHM_DISABLE=1 NCCL_CUMEM_ENABLE=0 ");
  EXPECT_EQ(ideas(joined, stage, "nvls_failure"),
            "NCCL_NVLS_ENABLE=0 NCCL_P2P_DISABLE=1 NCCL_SHM_DISABLE=1 ");
  stage.place = LaunchPlace::kAfterInit;
  EXPECT_EQ(ideas(joined, stage), "it does not stand in NCCL: none of its variables would change that");
  stage.place = LaunchPlace::kNcclInit;
  stage.missing = {1};
  EXPECT_EQ(ideas(joined, stage),
            "no variable of NCCL brings ranks that never came: find out why they did not start");
}

}  // namespace
}  // namespace unhang::detect
