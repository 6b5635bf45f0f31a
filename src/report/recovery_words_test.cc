// SPDX-License-Identifier: Apache-2.0
#include "report/recovery_words.h"

#include <gtest/gtest.h>

namespace unhang::report {
namespace {

TEST(RecoveryWords, History) {
  EXPECT_EQ(history_words({"gpu-b07/mlx5_2", 3, 14, "old/1.json", "link_down"}),
            "3rd time on gpu-b07/mlx5_2: 2 of 14 earlier verdicts, mostly link_down; last: old/1.json");
  EXPECT_EQ(history_words({"gpu-b07", 12, 11, "", "unknown"}),
            "12th time on gpu-b07: 11 of 11 earlier verdicts");
}

TEST(RecoveryWords, Environment) {
  EXPECT_EQ(environment_words("lws"), "LeaderWorkerSet");
  EXPECT_EQ(environment_words(""), "");
  EXPECT_EQ(environment_words("of a later release"), "of a later release");
}

TEST(RecoveryWords, Lost) {
  model::IncidentTimes times;
  EXPECT_EQ(lost_words(times), "");
  times.gpu_hours_lost = 4.04;
  EXPECT_EQ(lost_words(times), "4.0 GPU-hours lost");
  times.gpu_hours_lost = 1234.6;
  EXPECT_EQ(lost_words(times), "1235 GPU-hours lost");
}

TEST(RecoveryWords, AScreenShowsTheFirstStepAndThoseThatChangeSomething) {
  const std::vector<model::RecoveryStep> steps = {{"keep", "", false},
                                                  {"look", "", false},
                                                  {"isolate", "", true},
                                                  {"rebuild", "", true},
                                                  {"test again", "", true}};
  EXPECT_EQ(chosen_steps(steps, 3), (std::vector<std::size_t>{0, 2, 3}));
  EXPECT_EQ(chosen_steps(steps, 1), std::vector<std::size_t>{0});
  EXPECT_EQ(chosen_steps(steps, 9).size(), 5u);
  EXPECT_EQ(chosen_steps({{"a", "", false}, {"b", "", false}}, 1), std::vector<std::size_t>{0});
  EXPECT_TRUE(chosen_steps({}, 3).empty());
}

}  // namespace
}  // namespace unhang::report
