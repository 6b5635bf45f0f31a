// SPDX-License-Identifier: Apache-2.0
//
// Who is slow and what is not: stragglers down to 5 %, transfers that become slower, wild ones, and noise.
#include "detect/slow_report.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "detect/lateness.h"
#include "detect/time_limit.h"
#include "detect/timed_job_for_tests.h"

namespace unhang::detect {
namespace {

using model::SlowKind;
using model::SlowOutcome;

model::SlowReport report_of(const TimedJob& job) {
  CaseBuilder c = job.build();
  return slow_report(analyse(c.joined()));
}

// "straggler 3; transfer_drift": what is slow, with the ranks named for it.
std::string slow_text(const model::SlowReport& report, bool slow = true) {
  std::string out;
  for (const model::SlowFinding& found : report.findings) {
    if (found.slow != slow) continue;
    out += (out.empty() ? "" : "; ") + std::string(model::name_of(found.kind));
    for (std::size_t i = 0; i < found.culprits.size(); ++i)
      out += (i == 0 ? ' ' : ',') + std::to_string(found.culprits[i]);
  }
  return out;
}

TEST(SlowReport, AStragglerOfFivePerCentIsFound) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    const auto report =
        report_of({.steps = 40, .seed = seed, .late = [](int, int rank) { return rank == 3 ? 0.05 : 0.0; }});
    EXPECT_EQ(report.outcome, SlowOutcome::kSlow) << seed;
    ASSERT_EQ(slow_text(report), "straggler 3") << seed;
    ASSERT_FALSE(report.ranks.empty());
    EXPECT_EQ(report.ranks.front().rank, 3u);
    EXPECT_TRUE(report.ranks.front().by_durations);
    EXPECT_EQ(report.findings.front().side, model::SlowSide::kCompute);
  }
}

// Eight steps, each with a delay that stands far out: few, and plain.
TEST(SlowReport, PlainLatenessNeedsFewSteps) {
  const auto steps = [](int count) {
    return report_of(
        {.ranks = 2, .steps = count, .late = [](int, int rank) { return rank == 1 ? 0.15 : 0.0; }});
  };
  EXPECT_EQ(slow_text(steps(12)), "straggler 1");
  EXPECT_EQ(slow_text(steps(9)), "");  // fewer than 30 collectives
  // The others are late by nearly as much.
  EXPECT_EQ(slow_text(report_of({.ranks = 2,
                                 .steps = 12,
                                 .compute_noise = 0.1,
                                 .late = [](int, int rank) { return rank == 1 ? 0.15 : 0.0; }})),
            "");
}

// Two ranks on a host: late together, neither stands out.
TEST(SlowReport, AHostThatIsLate) {
  const auto late = [](int, int rank) { return rank / 2 == 2 ? 0.08 : 0.0; };
  EXPECT_EQ(slow_text(report_of({.late = late})), "straggler 4,5");
  CaseBuilder c = TimedJob{.late = late}.build();
  EXPECT_NE(slow_report(analyse(c.joined())).findings.at(0).text.find("together on one host"),
            std::string::npos);
}

// A stage of a pipeline is later than another by design.
TEST(SlowReport, AStageOfAPipelineIsNone) {
  CaseBuilder c = TimedJob{.late = [](int, int rank) { return rank / 2 == 2 ? 0.08 : 0.0; }}.build();
  const auto pipeline = c.group("1", "pp", {0, 2, 4, 6});
  c.send(pipeline, 0, 1, true).receive(pipeline, 2, 0, true);
  EXPECT_EQ(slow_text(slow_report(analyse(c.joined()))), "");
}

TEST(SlowReport, TwoPerCentIsNotClaimed) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    const auto report =
        report_of({.steps = 40, .seed = seed, .late = [](int, int rank) { return rank == 3 ? 0.02 : 0.0; }});
    EXPECT_EQ(slow_text(report), "") << seed;
    EXPECT_EQ(report.outcome, SlowOutcome::kNothingSlow) << seed;
  }
}

TEST(SlowReport, NoiseIsNothing) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const int ranks = 2 + static_cast<int>(seed % 7);
    const auto report = report_of({.ranks = ranks,
                                   .steps = 30 + static_cast<int>(seed % 4) * 20,
                                   .seed = seed,
                                   .compute_noise = seed % 3 == 0 ? 0.05 : 0.01,
                                   .transfer_noise = seed % 5 == 0 ? 0.3 : 0.05});
    EXPECT_EQ(slow_text(report), "") << seed;
    EXPECT_EQ(report.outcome, SlowOutcome::kNothingSlow) << seed;
  }
}

// Durations are compared, no times of day.
TEST(SlowReport, ClocksDoNotMatter) {
  const auto report = report_of({.late = [](int, int rank) { return rank == 5 ? 0.06 : 0.0; },
                                 .clock_ahead_ms = {0, 0, 4000, 4000, -90000, -90000, 0, 0}});
  EXPECT_EQ(slow_text(report), "straggler 5");
}

TEST(SlowReport, TransfersThatBecameSlower) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const auto report = report_of({.steps = 80, .seed = seed, .transfer_ms = 6, .transfer = [](int step) {
                                     return step < 50 ? 1.0 : 1.5;
                                   }});
    ASSERT_EQ(slow_text(report), "transfer_drift") << seed;
    ASSERT_TRUE(report.findings.front().since_sequence.has_value());
    const auto& found = report.findings.front();
    EXPECT_EQ(found.side, model::SlowSide::kNetwork);
    EXPECT_EQ(found.cause, "slow_link");
    EXPECT_TRUE(found.culprits.empty());
    EXPECT_NEAR(static_cast<double>(*found.since_sequence), 151, 9) << seed;
    ASSERT_TRUE(report.transfers.front().time.change.has_value());
    EXPECT_NEAR(report.transfers.front().time.change->ratio, 1.5, 0.1) << seed;
  }
}

// All enter together and nothing lasts: worth a word, no trouble.
TEST(SlowReport, AWhileAndBackIsNoTrouble) {
  const auto report = report_of({.steps = 120, .transfer_ms = 6, .transfer = [](int step) {
                                   return step >= 40 && step < 70 ? 2.0 : 1.0;
                                 }});
  EXPECT_EQ(slow_text(report), "");
  EXPECT_EQ(slow_text(report, false), "transfer_drift");
  EXPECT_EQ(report.outcome, SlowOutcome::kNothingSlow);
}

TEST(SlowReport, AFewWildOnesAreATail) {
  const auto report = report_of(
      {.steps = 120, .transfer_ms = 6, .transfer = [](int step) { return step % 40 == 7 ? 30.0 : 1.0; }});
  EXPECT_EQ(slow_text(report), "");
  EXPECT_EQ(slow_text(report, false), "tail");
  EXPECT_EQ(report.outcome, SlowOutcome::kNothingSlow);
}

TEST(SlowReport, OneLargeDelayIsNoStraggler) {
  const auto report = report_of(
      {.steps = 60, .late = [](int step, int rank) { return step == 30 && rank == 2 ? 9.0 : 0.0; }});
  EXPECT_EQ(slow_text(report), "");
  ASSERT_EQ(slow_text(report, false), "tail");
  EXPECT_EQ(report.findings.front().suspects, (std::vector<model::RankIndex>{2}));
}

// Everybody computes longer: no rank and no transfer accounts for it.
TEST(SlowReport, LongerStepsOfAll) {
  const auto report = report_of({.steps = 80, .late = [](int step, int) { return step < 40 ? 0.0 : 0.3; }});
  ASSERT_EQ(slow_text(report), "step_drift");
  EXPECT_EQ(report.findings.front().confidence, model::Confidence::kLow);
}

// Nine steps after a change are too few to call it one.
TEST(SlowReport, FewerThanTenStepsAreNoDrift) {
  const auto report = report_of({.steps = 60, .late = [](int step, int) { return step < 51 ? 0.0 : 0.5; }});
  EXPECT_EQ(slow_text(report), "");
}

TEST(SlowReport, NothingIsSaidOfAJobThatStands) {
  CaseBuilder c = TimedJob{.late = [](int, int rank) { return rank == 3 ? 0.3 : 0.0; }}.build();
  c.open(0, "all_reduce", {0, 1, 2});
  const auto report = slow_report(analyse(c.joined()));
  EXPECT_EQ(report.outcome, SlowOutcome::kStopped);
  EXPECT_EQ(slow_text(report), "");
}

TEST(SlowReport, WithoutTimesNothingCanBeTold) {
  CaseBuilder c(2);
  const auto world = c.group("0", "default_pg", {0, 1});
  for (int i = 0; i < 50; ++i) c.done(world, "all_reduce");
  const auto report = slow_report(analyse(c.joined()));
  EXPECT_EQ(report.outcome, SlowOutcome::kUnknown);
  ASSERT_GE(report.not_judged.size(), 2u);
  EXPECT_NE(report.not_judged[0].find("TORCH_NCCL_ENABLE_TIMING=1"), std::string::npos);
}

// A rank without a dump may have been the last one.
TEST(SlowReport, AMemberWithoutTimesSilencesItsGroup) {
  CaseBuilder c = TimedJob{.late = [](int, int rank) { return rank == 3 ? 0.3 : 0.0; }}.build();
  c.silent(6);
  const auto report = slow_report(analyse(c.joined()));
  EXPECT_EQ(slow_text(report), "");
  EXPECT_EQ(report.outcome, SlowOutcome::kUnknown);
}

TEST(SlowReport, NumbersThatCannotBeTrue) {
  constexpr float kNone = std::numeric_limits<float>::quiet_NaN();
  constexpr float kInfinite = std::numeric_limits<float>::infinity();
  CaseBuilder c = TimedJob{}.build();
  model::Case joined = c.take();
  constexpr std::int64_t kLast = std::numeric_limits<std::int64_t>::max();
  constexpr std::int64_t kFirst = std::numeric_limits<std::int64_t>::min();
  const float durations[] = {
      kNone, kInfinite, -kInfinite, -5, 0, 1e30F, std::numeric_limits<float>::denorm_min()};
  const std::int64_t times[] = {kFirst, kLast, -1, 0, 1, kLast - 1};
  std::size_t n = 0;
  for (model::Rank& rank : joined.ranks) {
    for (model::Operation& op : rank.operations) {
      ++n;
      if (n % 3 != 0) op.duration_ms = durations[n % std::size(durations)];
      if (n % 5 == 0) op.created_ns = times[n % std::size(times)];
      if (n % 7 == 0) op.completed_ns = times[n % std::size(times)];
    }
  }
  const auto report = slow_report(analyse(joined));
  for (const auto& late : report.ranks) {
    EXPECT_GE(late.share_lost, 0);
    EXPECT_LE(late.share_lost, 1);
  }
  for (const auto& one : report.transfers) EXPECT_GT(one.time.median_ns, 0);
}

TEST(SlowReport, AllNumbersAtTheirEnds) {
  for (const std::int64_t time : {std::numeric_limits<std::int64_t>::max(), std::int64_t{1}}) {
    model::Case joined = TimedJob{.ranks = 3}.build().take();
    for (model::Rank& rank : joined.ranks) {
      for (std::size_t i = 0; i < rank.operations.size(); ++i) {
        auto& op = rank.operations[i];
        op.duration_ms = rank.global_rank == 1 ? 1e-6F : 3e10F;
        op.created_ns = i % 2 == 0 ? time : std::numeric_limits<std::int64_t>::max() - time + 1;
        op.completed_ns = i % 3 == 0 ? time : std::numeric_limits<std::int64_t>::max() - time + 1;
      }
    }
    slow_report(analyse(joined));
    for (model::Rank& rank : joined.ranks) {
      for (auto& op : rank.operations) op.duration_ms = model::Operation::kNoDuration;
    }
    slow_report(analyse(joined));
  }
}

TEST(TimeLimit, IsAdvisedWhereTheJobComesClose) {
  CaseBuilder c(2);
  const auto world = c.group("0", "default_pg", {0, 1});
  for (int i = 0; i < 200; ++i) {
    const std::int64_t took = i == 120 ? 400'000 : 2'000;  // ms; the limit is 600 s
    c.same_time().done(world, "all_reduce",
                       CallOptions{.completed_after_ns = took * CaseBuilder::kMillisecond});
    c.end_line(took * CaseBuilder::kMillisecond);
  }
  const model::Case& joined = c.joined();
  const auto limit = tight_time_limit(analyse(joined));
  ASSERT_TRUE(limit.has_value());
  EXPECT_EQ(limit->longest_ns, 400'000'000'000);
  // Two of 400 are beyond the 99.9th percentile's rank: it is the longest one; three times that, in minutes.
  EXPECT_EQ(limit->advised_ns, 1200'000'000'000);
  const auto step = timeout_advice(analyse(joined));
  ASSERT_TRUE(step.has_value());
  EXPECT_NE(step->why.find("from 10 min to 20 min"), std::string::npos) << step->why;
  EXPECT_FALSE(step->changes_the_world);
}

TEST(TimeLimit, NoneWithRoomNorWhereItStands) {
  CaseBuilder roomy = TimedJob{}.build();
  EXPECT_FALSE(tight_time_limit(analyse(roomy.joined())).has_value());
  CaseBuilder stuck(2);
  const auto world = stuck.group("0", "default_pg", {0, 1});
  for (int i = 0; i < 200; ++i)
    stuck.done(world, "all_reduce", CallOptions{.completed_after_ns = 500'000 * CaseBuilder::kMillisecond});
  EXPECT_TRUE(tight_time_limit(analyse(stuck.joined())).has_value());
  stuck.open(world, "all_reduce", {0});
  EXPECT_FALSE(tight_time_limit(analyse(stuck.joined())).has_value());
  EXPECT_FALSE(timeout_advice(analyse(stuck.joined())).has_value());
}

}  // namespace
}  // namespace unhang::detect
