// SPDX-License-Identifier: Apache-2.0
//
// What a bundle says of the command that it is about: how it ended, or that it still ran.
#include <gtest/gtest.h>

#include "detect/log_case_for_tests.h"

namespace unhang::detect {
namespace {

using model::BundleCommand;
using model::LogEventKind;

model::Case with_command(const BundleCommand& command, model::Case joined = {}) {
  model::BundleManifest bundle;
  bundle.host = "n1";
  bundle.command = command;
  joined.bundles.push_back(std::move(bundle));
  return joined;
}

model::Verdict verdict_of(const BundleCommand& command) {
  return diagnose(with_command(command));
}

TEST(CommandEnd, AStatusIsAnEnd) {
  const model::Verdict verdict = verdict_of({.pid = 41, .ran_ms = 12'340, .ended = true, .status = 3});
  EXPECT_EQ(verdict.cause, "process_exited");
  EXPECT_EQ(verdict.state, model::State::kDead);
  EXPECT_EQ(verdict.confidence, model::Confidence::kMedium);
  EXPECT_EQ(verdict.headline, "the command ended with status 3 after 12.3 s");
  ASSERT_EQ(verdict.culprits.size(), 1u);
  EXPECT_EQ(verdict.culprits[0].pid, 41);
  EXPECT_EQ(verdict.culprits[0].host, "n1");
  EXPECT_EQ(model::exit_code(verdict), 2);
  // No step that a dead job cannot take.
  for (const model::RecoveryStep& step : verdict.recovery.steps)
    EXPECT_EQ(step.command.find("unhang ras"), std::string::npos) << step.command;
}

TEST(CommandEnd, WhoKilledItIsAskedForOnlyWhereNothingCounted) {
  const model::Verdict killed = verdict_of({.pid = 41, .ran_ms = 500, .ended = true, .signal = 9});
  EXPECT_EQ(killed.cause, "process_exited");
  EXPECT_EQ(killed.headline, "the command was killed by signal 9 (SIGKILL) after 0.5 s");
  ASSERT_EQ(killed.alternatives.size(), 2u);
  EXPECT_EQ(killed.alternatives[0].cause, "oom_killed");
  const model::Verdict counted =
      verdict_of({.pid = 41, .ran_ms = 500, .ended = true, .signal = 9, .oom_kills = 1});
  EXPECT_EQ(counted.cause, "oom_killed");
  EXPECT_EQ(counted.headline,
            "the command was killed by signal 9 (SIGKILL) after 0.5 s; the kernel killed 1 process of its "
            "control group for lack of memory");
  // A shell hands on how its child ended.
  EXPECT_EQ(verdict_of({.ended = true, .status = 137, .oom_kills = 0}).headline,
            "the command ended with status 137, which stands for signal 9 (SIGKILL) after 0.0 s");
}

TEST(CommandEnd, OnlyAKillForMemoryOrACrashIsAReasonOfItsOwn) {
  const auto own = [](const BundleCommand& command) {
    const model::Case joined = with_command(command);
    const Analysis analysis = analyse(joined);
    EXPECT_EQ(find_command_crash(analysis).size() + find_command_end(analysis).size(), 1u);
    return find_command_end(analysis).empty();
  };
  EXPECT_TRUE(own({.ended = true, .signal = 11}));
  EXPECT_TRUE(own({.ended = true, .status = 139}));
  EXPECT_TRUE(own({.ended = true, .status = 1, .oom_kills = 2}));
  EXPECT_FALSE(own({.ended = true, .signal = 6}));
  EXPECT_FALSE(own({.ended = true, .signal = 9, .oom_kills = 0}));
}

TEST(CommandEnd, AGoodEndOrALivingOneSaysNothing) {
  EXPECT_NE(verdict_of({.ended = true, .status = 0}).cause, "process_exited");
  EXPECT_NE(verdict_of({.pid = 41, .ran_ms = 5, .ended = false}).cause, "process_exited");
}

TEST(CommandEnd, WhatLogsSayGoesFirstButForACrash) {
  LogCase c;
  c.give_up({0, 1, 2, 3}, {.operation = "_ALLGATHER_BASE", .in = 100, .out = 400});
  const model::Verdict aborted = diagnose(with_command({.ended = true, .signal = 6}, c.joined()));
  EXPECT_NE(aborted.cause, "process_exited") << aborted.headline;
  const model::Verdict crashed =
      diagnose(with_command({.ended = true, .signal = 11, .core_dumped = true}, c.joined()));
  EXPECT_EQ(crashed.cause, "process_exited");
  EXPECT_EQ(crashed.headline, "the command was killed by signal 11 (SIGSEGV) (core dumped) after 0.0 s");
}

// --- printed words of a program that lives ---

TEST(LivingProgram, ItsWordsAboutADeathAreALeadOnly) {
  LogCase c;
  c.file("f/launch/stdout.log").by({});
  c.says(LogEventKind::kOutOfMemoryKill, {.code = 15617, .subject = "python3"});
  EXPECT_EQ(c.verdict(), "process_or_device_unavailable/oom_killed medium");
  const model::Verdict alive = diagnose(with_command({.pid = 41, .ran_ms = 5, .ended = false}, c.joined()));
  EXPECT_EQ(alive.cause, "oom_killed");
  EXPECT_EQ(alive.confidence, model::Confidence::kLow);
  EXPECT_EQ(alive.state, model::State::kUnknown);
  EXPECT_EQ(model::exit_code(alive), 3);
  EXPECT_TRUE(alive.culprits.empty());
  EXPECT_NE(alive.headline.find("printed words, and the command still ran"), std::string::npos);
  const model::Verdict dead =
      diagnose(with_command({.pid = 41, .ran_ms = 5, .ended = true, .signal = 9}, c.joined()));
  EXPECT_EQ(dead.confidence, model::Confidence::kMedium);
}

TEST(LivingProgram, TheKernelsWordsStand) {
  LogCase c;
  c.file("f/launch/look/kernel/000-n1.log").by({.host = "n1"});
  c.says(LogEventKind::kOutOfMemoryKill, {.code = 15617, .subject = "python3"});
  const model::Verdict verdict = diagnose(with_command({.ended = false}, c.joined()));
  EXPECT_EQ(verdict.confidence, model::Confidence::kMedium);
}

TEST(LivingProgram, ARankThatIsGoneIsNotAmongTheLiving) {
  LogCase c;
  c.file("f/launch/stderr.log").by({});
  c.says(LogEventKind::kProcessExit, {.code = -9, .rank = 3, .detail = "root"});
  model::Case joined = with_command({.ended = false}, c.joined());
  EXPECT_EQ(diagnose(joined).confidence, model::Confidence::kLow);
  joined.processes.resize(1);
  joined.processes[0].sample.pid = 40;
  joined.processes[0].sample.rank = 0;
  EXPECT_EQ(diagnose(joined).confidence, model::Confidence::kMedium);
  joined.processes[0].sample.rank = 3;
  EXPECT_EQ(diagnose(joined).confidence, model::Confidence::kLow);
}

}  // namespace
}  // namespace unhang::detect
