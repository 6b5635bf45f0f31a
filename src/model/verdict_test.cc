// SPDX-License-Identifier: Apache-2.0
#include "model/verdict.h"

#include <gtest/gtest.h>

namespace unhang::model {
namespace {

int exit_of(Category category, State state) {
  Verdict verdict;
  verdict.category = category;
  verdict.state = state;
  return exit_code(verdict);
}

// The table of the verdict's exit codes: 0 fine, 1 slow, 2 stopped or dead, 3 unknown and nothing wrong
// proven.
TEST(ExitCode, FollowsTheState) {
  for (const Category category : {Category::kCollectiveDesync, Category::kInconclusive,
                                  Category::kNotCommunication, Category::kPerformanceDegradation}) {
    EXPECT_EQ(exit_of(category, State::kAdvancing), 0);
    EXPECT_EQ(exit_of(category, State::kIdle), 0);
    EXPECT_EQ(exit_of(category, State::kStarting), 0);
    EXPECT_EQ(exit_of(category, State::kSlow), 1);
    EXPECT_EQ(exit_of(category, State::kStopped), 2);
    EXPECT_EQ(exit_of(category, State::kDead), 2);
  }
}

TEST(ExitCode, HealthyIsFineWhateverIsKnown) {
  EXPECT_EQ(exit_of(Category::kHealthy, State::kUnknown), 0);
  EXPECT_EQ(exit_of(Category::kHealthy, State::kAdvancing), 0);
}

TEST(ExitCode, UnknownStateIsAboutWhatIsProven) {
  EXPECT_EQ(exit_of(Category::kInconclusive, State::kUnknown), 3);
  EXPECT_EQ(exit_of(Category::kNotCommunication, State::kUnknown), 3);
  EXPECT_EQ(exit_of(Category::kCollectiveDesync, State::kUnknown), 2);
  EXPECT_EQ(exit_of(Category::kPerformanceDegradation, State::kUnknown), 1);
}

}  // namespace
}  // namespace unhang::model
