// SPDX-License-Identifier: Apache-2.0
//
// A straggler needs enough to go by: in a short window, most of the time; and dumps that reach to the end.
#include <gtest/gtest.h>

#include "detect/case_builder_for_tests.h"

namespace unhang::detect {
namespace {

constexpr std::int64_t kMs = CaseBuilder::kMillisecond;

// Four ranks; rank 2 comes `late_ms` late in every round of `period_ms`.
CaseBuilder rounds(int count, std::int64_t late_ms, std::int64_t period_ms) {
  CaseBuilder c(4);
  const auto world = c.group("0", "default_pg", {0, 1, 2, 3});
  for (model::RankIndex rank = 0; rank < 4; ++rank) c.host(rank, "node" + std::to_string(rank));
  for (int round = 0; round < count; ++round) {
    c.same_time();
    for (model::RankIndex rank = 0; rank < 4; ++rank) {
      const std::int64_t noticed =
          late_ms * kMs + kMs + (round * 7 + static_cast<int>(rank) * 3) % 5 * kMs / 5;
      c.done(world, "all_reduce", std::vector<model::RankIndex>{rank},
             {.late_ns = rank == 2 ? late_ms * kMs : 0, .completed_after_ns = noticed});
    }
    c.end_line((period_ms - 1) * kMs);
  }
  return c;
}

constexpr const char* kFound = "performance_degradation/straggler_rank";

TEST(FewDelays, NeedHalfOfAShortWindow) {
  EXPECT_EQ(summary(rounds(9, 40, 100).run(find_straggler)), "nothing");
  EXPECT_EQ(summary(rounds(9, 70, 100).run(find_straggler)).find(kFound), 0u);
}

TEST(FewDelays, AFifthOfALongOneIsEnough) {
  EXPECT_EQ(summary(rounds(60, 40, 100).run(find_straggler)).find(kFound), 0u);
  EXPECT_EQ(summary(rounds(60, 10, 100).run(find_straggler)), "nothing");
}

TEST(FewDelays, NoneWhereADumpWasCut) {
  CaseBuilder c = rounds(60, 40, 100);
  c.cut(1, 1);
  EXPECT_EQ(summary(c.run(find_straggler)), "nothing");
}

// A rank that left no dump at all hides nothing of the others.
TEST(FewDelays, StillWhereADumpIsMissing) {
  CaseBuilder c(3);
  const auto pair = c.group("1", "tp", {0, 1});
  for (int round = 0; round < 60; ++round) {
    c.same_time().done(pair, "all_reduce", std::vector<model::RankIndex>{0},
                       {.completed_after_ns = 42 * kMs + round % 5 * kMs / 5});
    c.done(pair, "all_reduce", std::vector<model::RankIndex>{1},
           {.late_ns = 40 * kMs, .completed_after_ns = 42 * kMs + (round + 2) % 5 * kMs / 5});
    c.end_line(99 * kMs);
  }
  c.silent(2);
  EXPECT_EQ(summary(c.run(find_straggler)).find(kFound), 0u);
}

}  // namespace
}  // namespace unhang::detect
