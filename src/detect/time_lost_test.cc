// SPDX-License-Identifier: Apache-2.0
#include "detect/time_lost.h"

#include <gtest/gtest.h>

#include "detect/case_builder_for_tests.h"

namespace unhang::detect {
namespace {

model::Verdict stopped(std::string since, std::string ended) {
  model::Verdict out;
  out.category = model::Category::kCollectiveDesync;
  out.state = model::State::kStopped;
  out.times.stalled_since = std::move(since);
  out.times.ended = std::move(ended);
  return out;
}

TEST(TimeLost, AllGpusOfTheJobFromTheStallToTheEnd) {
  CaseBuilder c(8);
  c.group("0", "default_pg", {0, 1, 2, 3, 4, 5, 6, 7});
  model::Verdict verdict = stopped("2026-11-30T10:00:00Z", "2026-11-30T10:30:00Z");
  fill_time_lost(c.joined(), verdict);
  EXPECT_EQ(verdict.times.gpu_hours_lost, 4.0);
  EXPECT_EQ(verdict.times.lost_basis, "8 GPUs (one a rank) x 30 min from the stall to the end");
}

TEST(TimeLost, ToTheLatestTimeWhereNoEndIsKnown) {
  CaseBuilder c(4);
  model::Verdict verdict = stopped("2026-11-30T10:00:00Z", "");
  verdict.times.detected = "2026-11-30T10:10:00Z";
  verdict.times.dumped = "2026-11-30T10:15:00Z";
  fill_time_lost(c.joined(), verdict);
  EXPECT_EQ(verdict.times.gpu_hours_lost, 1.0);
  EXPECT_EQ(verdict.times.lost_basis,
            "4 GPUs (one a rank) x 15 min from the stall to the latest time in the evidence");
}

TEST(TimeLost, NothingWhereSomethingIsNotKnown) {
  const auto lost = [](const model::Case& joined, model::Verdict verdict) {
    fill_time_lost(joined, verdict);
    EXPECT_EQ(verdict.times.gpu_hours_lost.has_value(), !verdict.times.lost_basis.empty());
    return verdict.times.gpu_hours_lost;
  };
  CaseBuilder c(4);
  c.group("0", "default_pg", {0, 1, 2, 3});
  const model::Case& joined = c.joined();
  EXPECT_FALSE(lost(joined, stopped("", "2026-11-30T10:30:00Z")));
  EXPECT_FALSE(lost(joined, stopped("2026-11-30T10:30:00Z", "")));
  EXPECT_FALSE(lost(joined, stopped("2026-11-30T10:30:00Z", "2026-11-30T10:00:00Z")));
  EXPECT_FALSE(lost(joined, stopped("1970-01-01T00:00:00Z", "2026-11-30T10:00:00Z")));
  EXPECT_FALSE(lost({}, stopped("2026-11-30T10:00:00Z", "2026-11-30T10:30:00Z")));  // how many GPUs
  model::Verdict slow = stopped("2026-11-30T10:00:00Z", "2026-11-30T10:30:00Z");
  slow.state = model::State::kSlow;
  EXPECT_FALSE(lost(joined, slow));
  CaseBuilder gloo(4);
  gloo.group("0", "default_pg", {0, 1, 2, 3}, "gloo");
  EXPECT_FALSE(lost(gloo.joined(), stopped("2026-11-30T10:00:00Z", "2026-11-30T10:30:00Z")));
}

}  // namespace
}  // namespace unhang::detect
