// SPDX-License-Identifier: Apache-2.0
#include "detect/recurrence.h"

#include <algorithm>

#include <gtest/gtest.h>

namespace unhang::detect {
namespace {

using model::EarlierVerdict;
using model::Subject;

Subject adapter(std::string host, std::string nic) {
  Subject out;
  out.kind = model::SubjectKind::kNic;
  out.host = std::move(host);
  out.nic = std::move(nic);
  return out;
}

Subject rank(std::int32_t number, std::string host = {}) {
  Subject out;
  out.rank = number;
  out.host = std::move(host);
  return out;
}

EarlierVerdict earlier(std::string file, std::vector<Subject> culprits, std::string time,
                       std::string cause = "ib_retry_exceeded") {
  EarlierVerdict out;
  out.file = std::move(file);
  out.category = "transport_stall";
  out.cause = std::move(cause);
  out.culprits = std::move(culprits);
  out.stalled_since = std::move(time);
  return out;
}

model::Verdict now(std::vector<Subject> culprits, std::string time = "2026-11-30T10:00:00Z") {
  model::Verdict out;
  out.category = model::Category::kTransportStall;
  out.cause = "ib_retry_exceeded";
  out.state = model::State::kStopped;
  out.fault_domain = model::FaultDomain::kLink;
  out.culprits = std::move(culprits);
  out.times.stalled_since = std::move(time);
  return out;
}

std::string told(const std::vector<EarlierVerdict>& before, model::Verdict verdict) {
  compare_with_history(before, verdict);
  std::string out;
  for (const auto& r : verdict.history)
    out += (out.empty() ? "" : "; ") + std::to_string(r.times) + "x " + r.subject + " (" + r.cause + ", " +
           r.last + ")";
  return out;
}

TEST(Recurrence, CountsMachineAndAdapter) {
  const std::vector<EarlierVerdict> before = {
      earlier("1.json", {adapter("gpu-b07", "mlx5_2")}, "2026-11-01T10:00:00Z"),
      earlier("2.json", {adapter("gpu-b07", "mlx5_2")}, "2026-11-20T10:00:00Z"),
      earlier("3.json", {adapter("gpu-b07", "mlx5_0")}, "2026-11-10T10:00:00Z", "link_down"),
      earlier("4.json", {adapter("gpu-a01", "mlx5_2")}, "2026-11-10T10:00:00Z")};
  EXPECT_EQ(told(before, now({adapter("gpu-b07", "mlx5_2")})),
            "4x gpu-b07 (ib_retry_exceeded, 2.json); 3x gpu-b07/mlx5_2 (ib_retry_exceeded, 2.json)");
  EXPECT_EQ(told(before, now({adapter("gpu-c01", "mlx5_2")})), "");
}

TEST(Recurrence, OneIncidentThatWasDiagnosedTwiceCountsOnce) {
  const std::vector<Subject> who = {adapter("gpu-b07", "mlx5_2")};
  // The same again a moment later by its times, and once without any.
  EXPECT_EQ(told({earlier("1.json", who, "2026-11-01T10:00:00Z"),
                  earlier("2.json", who, "2026-11-01T10:00:20Z"), earlier("3.json", who, "")},
                 now(who)),
            "2x gpu-b07/mlx5_2 (ib_retry_exceeded, 1.json); 2x gpu-b07 (ib_retry_exceeded, 1.json)");
  // The one that is looked at now lies in the folder, too.
  EXPECT_EQ(told({earlier("now.json", who, "2026-11-30T10:00:00Z")}, now(who)), "");
}

TEST(Recurrence, ARankIsTheSameOnlyInTheSameInstance) {
  EarlierVerdict before = earlier("1.json", {rank(5)}, "2026-11-01T10:00:00Z");
  model::Verdict verdict = now({rank(5)});
  EXPECT_EQ(told({before}, verdict), "");
  before.instances = {"llama-a"};
  verdict.blast_radius.instances = {"llama-b"};
  EXPECT_EQ(told({before}, verdict), "");
  verdict.blast_radius.instances = {"llama-a"};
  EXPECT_EQ(told({before}, verdict), "2x rank 5 (ib_retry_exceeded, 1.json)");
}

TEST(Recurrence, PairsOfMachinesHaveNoOrder) {
  std::vector<Subject> pair = {rank(1, "gpu-a01"), rank(5, "gpu-b07")};
  pair[0].peer = 5;
  pair[1].peer = 1;
  std::vector<Subject> turned = {rank(9, "gpu-b07"), rank(2, "gpu-a01")};
  turned[0].peer = 2;
  turned[1].peer = 9;
  EXPECT_TRUE(told({earlier("1.json", turned, "2026-11-01T10:00:00Z")}, now(pair))
                  .starts_with("2x gpu-a01 and gpu-b07 ("));
}

TEST(Recurrence, TheOrderOfTheFilesDoesNotMatter) {
  std::vector<EarlierVerdict> before;
  for (int i = 0; i < 6; ++i)
    before.push_back(earlier(std::to_string(i) + ".json", {adapter(i % 2 == 0 ? "a" : "b", "mlx5_0")},
                             i == 3 ? "" : "2026-11-0" + std::to_string(i + 1) + "T10:00:00Z"));
  const model::Verdict verdict = now({adapter("a", "mlx5_0"), adapter("b", "mlx5_1")});
  const std::string once = told(before, verdict);
  EXPECT_FALSE(once.empty());
  std::reverse(before.begin(), before.end());
  EXPECT_EQ(told(before, verdict), once);
}

TEST(Recurrence, AsksForATestAndChangesNothingElse) {
  const std::vector<Subject> who = {adapter("gpu-b07", "mlx5_2")};
  model::Verdict verdict = now(who);
  const model::Verdict before = verdict;
  compare_with_history({earlier("1.json", who, "2026-11-01T10:00:00Z")}, verdict);
  EXPECT_EQ(verdict.category, before.category);
  EXPECT_EQ(verdict.confidence, before.confidence);
  EXPECT_EQ(verdict.recovery.level, before.recovery.level);
  EXPECT_EQ(verdict.recovery.retest, std::vector<std::string>{"gpu-b07/mlx5_2"});
  ASSERT_EQ(verdict.recovery.steps.size(), 1u);
  EXPECT_FALSE(verdict.recovery.steps[0].changes_the_world);
  // A program's mistake comes again wherever it runs.
  model::Verdict program = now(who);
  program.fault_domain = model::FaultDomain::kApplication;
  compare_with_history({earlier("1.json", who, "2026-11-01T10:00:00Z")}, program);
  EXPECT_EQ(program.history.size(), 2u);
  EXPECT_TRUE(program.recovery.steps.empty());
}

TEST(Recurrence, ADeviceIsTheSameWhereverItIsPutIn) {
  Subject gpu;
  gpu.kind = model::SubjectKind::kGpu;
  gpu.gpu = "GPU-1A2B";
  EXPECT_EQ(told({earlier("1.json", {gpu}, "2026-11-01T10:00:00Z", "gpu_xid")}, now({gpu})),
            "2x GPU-1a2b (gpu_xid, 1.json)");
}

TEST(Recurrence, Ordinals) {
  EXPECT_EQ(ordinal_text(2), "2nd");
  EXPECT_EQ(ordinal_text(3), "3rd");
  EXPECT_EQ(ordinal_text(11), "11th");
  EXPECT_EQ(ordinal_text(112), "112th");
  EXPECT_EQ(ordinal_text(21), "21st");
}

}  // namespace
}  // namespace unhang::detect
