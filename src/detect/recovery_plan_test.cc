// SPDX-License-Identifier: Apache-2.0
//
// The whole advice, step by step, for the verdicts that people meet most.
#include "detect/recovery_plan.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "detect/case_builder_for_tests.h"
#include "model/cause.h"

namespace unhang::detect {
namespace {

using model::Category;
using model::Confidence;
using model::RecoveryLevel;
using model::State;

model::Verdict verdict(Category category, std::string_view cause, State state, Confidence confidence) {
  model::Verdict out;
  out.category = category;
  out.cause = cause;
  out.state = state;
  out.confidence = confidence;
  const model::CauseInfo* info = model::find_cause(cause);
  if (info != nullptr) out.fault_domain = info->fault_domain;
  return out;
}

model::Recovery plan(const model::Case& joined, const model::Verdict& v, const std::string& culprits) {
  return plan_recovery(analyse(joined), v, culprits);
}

// Each step's command, or the first words of its reason; "!" in front of what changes something.
std::string told(const model::Recovery& recovery) {
  std::string out(model::name_of(recovery.level));
  for (const model::RecoveryStep& step : recovery.steps) {
    out += step.changes_the_world ? "\n! " : "\n  ";
    out += step.command.empty() ? step.why.substr(0, 40) : step.command;
  }
  return out;
}

model::Case four_ranks() {
  CaseBuilder c(4);
  c.group("0", "default_pg", {0, 1, 2, 3});
  model::Case out = c.take();
  out.coverage.push_back({"flight_recorder", {0, 1, 2, 3}, {}, {}, {}});
  return out;
}

model::Verdict covered(model::Verdict v) {
  v.coverage.push_back({"flight_recorder", {0, 1, 2, 3}, {}, {}, {}});
  return v;
}

TEST(RecoveryPlan, EvidenceFirstAndTheWholeGroupLast) {
  model::Verdict v =
      covered(verdict(Category::kCollectiveDesync, "rank_not_entered", State::kStopped, Confidence::kHigh));
  v.culprits.emplace_back().rank = 2;
  v.culprits[0].pid = 412;
  EXPECT_EQ(told(plan(four_ranks(), v, "rank 2")),
            "process_group\n"
            "  unhang capture\n"
            "  py-spy dump --pid 412\n"
            "! then restart the whole process group, no");
}

TEST(RecoveryPlan, ADeviceThatFailedIsIsolatedAndTestedAgain) {
  model::Case joined = four_ranks();
  model::BundleProcess process;
  process.environment = {{"SLURM_JOB_ID", "4711"}};
  joined.bundles.emplace_back().processes.push_back(process);  // captured: nothing to keep first
  model::Verdict v = covered(
      verdict(Category::kProcessOrDeviceUnavailable, "gpu_xid", State::kStopped, Confidence::kMedium));
  v.culprits.emplace_back().host = "gpu-b07";
  const model::Recovery recovery = plan(joined, v, "");
  EXPECT_EQ(recovery.environment, "slurm");
  EXPECT_EQ(recovery.retest, std::vector<std::string>{"gpu-b07"});
  EXPECT_EQ(told(recovery),
            "node\n"
            "  dmesg -T | grep -iE 'xid|nvrm'; nvidia-smi -q -d ECC,PAGE_RETIREMENT,ROW_REMAPPER\n"
            "! scontrol update NodeName=gpu-b07 State=DRAIN Reason=\"unhang: gpu_xid\"\n"
            "! scontrol requeue 4711\n"
            "! srun -N1 -w gpu-b07 --ntasks-per-node=1 dcgmi diag -r 3");
}

TEST(RecoveryPlan, InconclusiveIsAdvisedByItsState) {
  EXPECT_EQ(
      told(plan(four_ranks(),
                covered(verdict(Category::kInconclusive, "unknown", State::kStopped, Confidence::kLow)), "")),
      "process_group\n"
      "  unhang capture\n"
      "! then restart the whole process group, no");
  EXPECT_EQ(
      told(plan(four_ranks(),
                covered(verdict(Category::kInconclusive, "unknown", State::kUnknown, Confidence::kLow)), "")),
      "none\n"
      "  unhang ras watch");
}

TEST(RecoveryPlan, WhatMovesIsLeftAlone) {
  for (const State state : {State::kSlow, State::kAdvancing, State::kStarting, State::kIdle}) {
    const model::Recovery recovery =
        plan(four_ranks(),
             covered(verdict(Category::kPerformanceDegradation, "straggler_rank", state, Confidence::kHigh)),
             "rank 2");
    EXPECT_EQ(recovery.level, RecoveryLevel::kNone);
    EXPECT_FALSE(recovery.steps.empty());
    for (const model::RecoveryStep& step : recovery.steps) EXPECT_FALSE(step.changes_the_world) << step.why;
    EXPECT_TRUE(recovery.retest.empty());
  }
}

TEST(RecoveryPlan, ATimeOutIsRaisedOnlyWhereItMovesAndComesCloseToIt) {
  const auto raises = [](std::int64_t took_s, State state) {
    CaseBuilder c(2);
    const auto world = c.group("0", "default_pg", {0, 1});
    for (int i = 0; i < 120; ++i)  // the limit is 600 s
      c.done(world, "all_reduce", CallOptions{.completed_after_ns = took_s * 1'000'000'000});
    const model::Recovery recovery = plan(
        c.joined(), verdict(Category::kPerformanceDegradation, "straggler_rank", state, Confidence::kHigh),
        "rank 1");
    return std::any_of(recovery.steps.begin(), recovery.steps.end(), [](const model::RecoveryStep& step) {
      return step.why.find("raise the time-out") != std::string::npos;
    });
  };
  EXPECT_TRUE(raises(400, State::kSlow));
  EXPECT_TRUE(raises(400, State::kAdvancing));
  EXPECT_FALSE(raises(2, State::kSlow));
  EXPECT_FALSE(raises(400, State::kStopped));
  EXPECT_FALSE(raises(400, State::kStarting));
}

TEST(RecoveryPlan, NoTimeOutIsRaisedWhereNothingMoves) {
  for (const model::CauseInfo& cause : model::cause_catalogue()) {
    for (const Category category : cause.categories) {
      const model::Recovery recovery =
          plan(four_ranks(), covered(verdict(category, cause.code, State::kStopped, Confidence::kMedium)),
               "rank 2");
      for (const model::RecoveryStep& step : recovery.steps)
        EXPECT_EQ(step.why.find("raise"), std::string::npos) << cause.code << ": " << step.why;
      if (category == Category::kHealthy) continue;
      EXPECT_NE(told(recovery).find("\n! "), std::string::npos) << cause.code;
    }
  }
}

}  // namespace
}  // namespace unhang::detect
