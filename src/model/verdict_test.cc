// SPDX-License-Identifier: Apache-2.0
#include "model/verdict.h"

#include <gtest/gtest.h>

namespace unhang::model {
namespace {

int exit_of(Category category, State state) {
  Verdict verdict;
  verdict.category = category;
  verdict.state = state;
  verdict.confidence = Confidence::kMedium;
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

// One answer of a live job that shows ranks behind is a lead; it proves nothing.
TEST(ExitCode, ALeadOfLowConfidenceIsNoProof) {
  Verdict verdict;
  verdict.category = Category::kCollectiveDesync;
  verdict.state = State::kUnknown;
  verdict.confidence = Confidence::kLow;
  EXPECT_EQ(exit_code(verdict), 3);
  verdict.confidence = Confidence::kMedium;
  EXPECT_EQ(exit_code(verdict), 2);
  verdict.confidence = Confidence::kLow;
  verdict.state = State::kStopped;
  EXPECT_EQ(exit_code(verdict), 2);
}

TEST(ExitCode, UnknownStateIsAboutWhatIsProven) {
  EXPECT_EQ(exit_of(Category::kInconclusive, State::kUnknown), 3);
  EXPECT_EQ(exit_of(Category::kNotCommunication, State::kUnknown), 3);
  EXPECT_EQ(exit_of(Category::kCollectiveDesync, State::kUnknown), 2);
  EXPECT_EQ(exit_of(Category::kPerformanceDegradation, State::kUnknown), 1);
}

}  // namespace
}  // namespace unhang::model
