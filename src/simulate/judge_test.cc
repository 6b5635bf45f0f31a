// SPDX-License-Identifier: Apache-2.0
#include "simulate/judge.h"

#include <gtest/gtest.h>

#include "simulate/placement.h"
#include "simulate/random_plan.h"

namespace unhang::simulate {
namespace {

Truth truth_of(std::vector<std::int32_t> culprits) {
  Truth truth;
  truth.plan.ranks = 8;
  truth.plan.hosts = 2;
  truth.acceptable = {{"process_or_device_unavailable", {"gpu_xid"}},
                      {"collective_desync", {"rank_not_entered"}}};
  truth.culprits = std::move(culprits);
  for (const std::int32_t rank : truth.culprits)
    truth.culprit_hosts.push_back(Placement(truth.plan).host_of(rank));
  return truth;
}

model::Verdict verdict_of(model::Category category, std::string_view cause, model::Confidence confidence,
                          const std::vector<std::int32_t>& ranks) {
  model::Verdict verdict;
  verdict.category = category;
  verdict.cause = cause;
  verdict.confidence = confidence;
  for (const std::int32_t rank : ranks) {
    model::Subject subject;
    subject.rank = rank;
    verdict.culprits.push_back(subject);
  }
  return verdict;
}

using model::Category;
using model::Confidence;

TEST(Judge, TheFirstAnswerIsRightAndAnotherAcceptable) {
  const Truth truth = truth_of({3});
  const auto first =
      judge(truth, verdict_of(Category::kProcessOrDeviceUnavailable, "gpu_xid", Confidence::kHigh, {3}));
  EXPECT_EQ(first.answer, Answer::kRight);
  EXPECT_EQ(first.naming, Naming::kExact);
  EXPECT_EQ(
      judge(truth, verdict_of(Category::kCollectiveDesync, "rank_not_entered", Confidence::kMedium, {3}))
          .answer,
      Answer::kAcceptable);
}

TEST(Judge, AnInnocentMakesEveryAnswerWrong) {
  const Truth truth = truth_of({3});
  const auto confident =
      judge(truth, verdict_of(Category::kProcessOrDeviceUnavailable, "gpu_xid", Confidence::kMedium, {3, 4}));
  EXPECT_EQ(confident.answer, Answer::kConfidentlyWrong);
  EXPECT_TRUE(confident.confident_innocent);
  const auto low =
      judge(truth, verdict_of(Category::kProcessOrDeviceUnavailable, "gpu_xid", Confidence::kLow, {4}));
  EXPECT_EQ(low.answer, Answer::kWrong);
  EXPECT_FALSE(low.confident_innocent);
}

TEST(Judge, AnotherAnswerIsHonestOnlyWithLowConfidence) {
  const Truth truth = truth_of({3});
  EXPECT_EQ(judge(truth, verdict_of(Category::kTransportStall, "unknown", Confidence::kLow, {})).answer,
            Answer::kHonest);
  EXPECT_EQ(judge(truth, verdict_of(Category::kTransportStall, "unknown", Confidence::kMedium, {})).answer,
            Answer::kConfidentlyWrong);
  EXPECT_EQ(judge(truth, verdict_of(Category::kInconclusive, "unknown", Confidence::kMedium, {})).answer,
            Answer::kHonest);
  EXPECT_EQ(judge(truth, verdict_of(Category::kHealthy, "unknown", Confidence::kLow, {})).answer,
            Answer::kWrong);
}

TEST(Judge, HostProcessAndDeviceStandForTheirRank) {
  const Truth truth = truth_of({5});
  const Placement place(truth.plan);
  auto verdict = verdict_of(Category::kProcessOrDeviceUnavailable, "gpu_xid", Confidence::kHigh, {});
  model::Subject gpu;
  gpu.kind = model::SubjectKind::kGpu;
  gpu.host = place.host_name(1);
  gpu.gpu = place.bus_id(5);
  verdict.culprits = {gpu};
  EXPECT_EQ(judge(truth, verdict).naming, Naming::kExact);
  verdict.culprits[0].gpu = place.bus_id(4);
  EXPECT_EQ(judge(truth, verdict).naming, Naming::kInnocent);
  verdict.culprits[0].gpu.clear();
  verdict.culprits[0].pid = place.pid(5);
  EXPECT_EQ(judge(truth, verdict).naming, Naming::kExact);
  // The machine alone says less than which of its ranks it was.
  verdict.culprits[0].pid.reset();
  EXPECT_EQ(judge(truth, verdict).naming, Naming::kPart);
  verdict.culprits[0].host = place.host_name(0);
  EXPECT_EQ(judge(truth, verdict).naming, Naming::kInnocent);
}

TEST(Judge, OfAFaultOfAMachineItsNameIsEnough) {
  Truth truth = truth_of({4, 5, 6, 7});
  truth.culprit_hosts = {1};
  truth.host_suffices = true;
  truth.culprits_exact = false;
  auto verdict = verdict_of(Category::kProcessOrDeviceUnavailable, "gpu_xid", Confidence::kHigh, {6});
  EXPECT_EQ(judge(truth, verdict).naming, Naming::kExact);
  verdict.culprits.clear();
  EXPECT_EQ(judge(truth, verdict).naming, Naming::kNobody);
  model::Subject host;
  host.host = Placement(truth.plan).address(1);
  verdict.culprits = {host};
  EXPECT_EQ(judge(truth, verdict).naming, Naming::kExact);
}

TEST(RandomPlan, TheSameNumberIsTheSamePlanAndItsSizesFit) {
  const RandomPlanRules rules;
  for (std::uint64_t number = 1; number <= 200; ++number) {
    const Plan plan = random_plan(number, rules);
    const Plan again = random_plan(number, rules);
    EXPECT_EQ(plan.seed, again.seed);
    EXPECT_EQ(plan.fault, again.fault);
    EXPECT_GE(plan.ranks, 2);
    EXPECT_LE(plan.ranks, rules.most_ranks);
    EXPECT_EQ(plan.ranks % (plan.tp * plan.pp), 0);
    EXPECT_LE(plan.hosts, plan.ranks);
  }
}

}  // namespace
}  // namespace unhang::simulate
