// SPDX-License-Identifier: Apache-2.0
#include "checks/env_plans.h"

#include <gtest/gtest.h>

#include "checks/env_calibration.h"
#include "checks/env_rules.h"

namespace unhang::checks {
namespace {

using model::Category;

const model::EnvSetting* setting(const model::EnvPlan& plan, std::string_view name) {
  for (const model::EnvSetting& one : plan.settings) {
    if (one.name == name && !one.is_optional) return &one;
  }
  return nullptr;
}

EnvSubject subject_of(const model::EnvPlan& plan, const Software& software) {
  EnvSubject subject;
  subject.software = software;
  for (const model::EnvSetting& one : plan.settings) {
    if (!one.is_optional && is_watched(one.name))
      subject.environment.variables.push_back({.name = one.name, .value = one.value, .where = "plan"});
  }
  return subject;
}

std::vector<EnvPlanOptions> every_release() {
  std::vector<EnvPlanOptions> all;
  for (const int nccl : {18, 21, 23, 24, 26, 27, 28, 30, 32}) {
    for (const int torch : {1, 2, 3, 4, 6, 7, 8, 9, 10, 14, 15}) {
      for (const Engine engine : {Engine::kNone, Engine::kVllm, Engine::kSglang, Engine::kTrtllm}) {
        EnvPlanOptions options;
        options.software.nccl = {2, nccl, -1};
        options.software.torch = {2, torch, -1};
        options.software.engine = engine;
        all.push_back(options);
      }
    }
  }
  return all;
}

// What is advised must not be what is complained of.
TEST(EnvPlans, WhatIsPrintedPassesItsOwnCheck) {
  for (const EnvPlanOptions& options : every_release()) {
    for (const model::CheckResult& result :
         check_environment(subject_of(normal_plan(options), options.software))) {
      // Below 2.3 there is no FIFO to take the evidence before vLLM gives up.
      if (result.id == "engine-before-watchdog" && !options.software.torch_since(3)) continue;
      if (result.id == "engine-before-watchdog" && options.software.engine == Engine::kTrtllm) continue;
      EXPECT_EQ(result.status, model::CheckStatus::kPass)
          << words_of(options.software) << ": " << result.id << ": " << result.detail;
    }
  }
}

TEST(EnvPlans, IncidentsSetNothingThatIsWrong) {
  for (const EnvPlanOptions& options : every_release()) {
    for (const Category category :
         {Category::kInitializationHang, Category::kCollectiveDesync, Category::kTransportStall,
          Category::kPerformanceDegradation, Category::kProcessOrDeviceUnavailable,
          Category::kNotCommunication, Category::kInconclusive}) {
      const model::EnvPlan plan = incident_plan(category, options);
      bool optional = false;
      for (const model::EnvSetting& one : plan.settings) {
        EXPECT_FALSE(one.reason.empty()) << one.name;
        EXPECT_FALSE(optional && !one.is_optional) << "what is optional stands last";
        optional = one.is_optional;
      }
      for (const model::CheckResult& result : check_environment(subject_of(plan, options.software)))
        EXPECT_NE(result.status, model::CheckStatus::kFail)
            << words_of(options.software) << " " << name_of(category) << ": " << result.detail;
    }
  }
}

TEST(EnvPlans, NamesFollowTheRelease) {
  EnvPlanOptions options;
  options.software.torch = {2, 7, -1};
  options.software.nccl = {2, 21, 5};
  const model::EnvPlan old = normal_plan(options);
  EXPECT_EQ(setting(old, "TORCH_FR_BUFFER_SIZE"), nullptr);
  ASSERT_NE(setting(old, "TORCH_NCCL_TRACE_BUFFER_SIZE"), nullptr);
  EXPECT_EQ(setting(old, "TORCH_NCCL_TRACE_BUFFER_SIZE")->value, "2000");
  EXPECT_NE(setting(old, "TORCH_NCCL_DEBUG_INFO_TEMP_FILE"), nullptr);
  EXPECT_EQ(setting(old, "NCCL_RAS_ADDR"), nullptr);
  EXPECT_EQ(setting(old, "NCCL_DEBUG_TIMESTAMP_LEVELS"), nullptr);
  EXPECT_EQ(setting(old, "NCCL_DEBUG_SUBSYS")->value, "INIT,ENV,NET,GRAPH");

  options.software.torch = {2, 15, -1};
  options.software.nccl = {2, 26, 2};
  const model::EnvPlan newer = normal_plan(options);
  EXPECT_NE(setting(newer, "TORCH_FR_BUFFER_SIZE"), nullptr);
  EXPECT_NE(setting(newer, "TORCH_FR_DUMP_ON_TIMEOUT"), nullptr);
  EXPECT_EQ(setting(newer, "TORCH_NCCL_DUMP_ON_TIMEOUT"), nullptr);
  EXPECT_NE(setting(newer, "NCCL_RAS_ADDR"), nullptr);
  EXPECT_NE(setting(newer, "NCCL_DEBUG_TIMESTAMP_LEVELS"), nullptr);
  EXPECT_EQ(setting(newer, "NCCL_DEBUG_TIMESTAMP_FORMAT"), nullptr);  // 2.26 prints wrong fractions
  EXPECT_EQ(setting(newer, "NCCL_DEBUG_SUBSYS")->value, "INIT,BOOTSTRAP,ENV,NET,GRAPH,RAS");
}

TEST(Calibration, TheRingFollowsRateAndWindow) {
  CalibrationOptions options;
  options.rate = 400;
  const auto plan = calibration_plan({}, options);
  ASSERT_TRUE(plan);
  // 400 x 30 x 1.5
  EXPECT_EQ(setting(*plan, "TORCH_FR_BUFFER_SIZE")->value, "18000");
  EXPECT_EQ(setting(*plan, "TORCH_NCCL_TRACE_BUFFER_SIZE")->value, "18000");
  EXPECT_EQ(setting(*plan, "TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC"), nullptr);
  options.window = std::chrono::seconds(60);
  const auto longer = calibration_plan({}, options);
  EXPECT_EQ(setting(*longer, "TORCH_FR_BUFFER_SIZE")->value, "36000");
  EXPECT_EQ(setting(*longer, "TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC")->value, "60000");
  options.rate = 0.1;
  EXPECT_EQ(setting(*calibration_plan({}, options), "TORCH_FR_BUFFER_SIZE")->value, "2000");
  options.rate = 1e7;
  EXPECT_EQ(setting(*calibration_plan({}, options), "TORCH_FR_BUFFER_SIZE")->value, "500000");
}

TEST(Calibration, WithoutARateThereIsNothing) {
  EXPECT_FALSE(calibration_plan({}, {}));
}

TEST(Calibration, RatesAreThoseOfTheBusiestRank) {
  model::Case joined;
  joined.groups.resize(1);
  for (int rank = 0; rank < 2; ++rank) {
    model::Rank& one = joined.ranks.emplace_back();
    one.global_rank = rank;
    for (int i = 0; i <= 10 * (rank + 1); ++i) {
      model::Operation operation;
      operation.created_ns = 1'000'000'000'000 + static_cast<std::int64_t>(i) * 1'000'000'000 / (rank + 1);
      one.operations.push_back(operation);
    }
  }
  const CollectiveRates rates = measure_rates(joined);
  ASSERT_EQ(rates.ranks.size(), 2U);
  EXPECT_EQ(fastest(rates.ranks)->who, "rank 1");
  EXPECT_DOUBLE_EQ(fastest(rates.ranks)->per_second, 2.0);
  EXPECT_DOUBLE_EQ(rates.longest_pause, 1.0);
  joined.ranks[1].only_active = true;
  EXPECT_EQ(fastest(measure_rates(joined).ranks)->who, "rank 0");
}

TEST(Calibration, TwoAnswersOfRas) {
  model::Case joined;
  for (const std::uint64_t count : {100U, 160U}) {
    model::RasView& view = joined.ras.views.emplace_back();
    view.time_ns = static_cast<std::int64_t>(count) * 100'000'000;  // 10 s and 16 s
    model::RasRank rank;
    rank.rank = 0;
    rank.host = "10.0.0.1";
    rank.pid = 7;
    rank.counts[static_cast<std::size_t>(model::RasCollective::kAllReduce)] = count;
    view.communicators.emplace_back().ranks.push_back(rank);
  }
  const CollectiveRates rates = measure_rates(joined);
  ASSERT_EQ(rates.processes.size(), 1U);
  EXPECT_DOUBLE_EQ(rates.processes[0].per_second, 10.0);
  joined.ras.views.pop_back();
  EXPECT_TRUE(measure_rates(joined).empty());
}

}  // namespace
}  // namespace unhang::checks
