// SPDX-License-Identifier: Apache-2.0
//
// A dump that completed what nobody else came to is of another run.
#include "join/impossible_progress.h"

#include <gtest/gtest.h>

#include "join/dumps_for_tests.h"

namespace unhang::join {
namespace {

// Rank `rank` of a job of five completed all-reduces up to `completed` and called those up to `enqueued`, one
// in a second from `start` on.
formats::Evidence dump(int rank, int completed, int enqueued, int start = 0, const char* kind = "all_reduce",
                       const char* backend = "nccl") {
  TestDump d("dump_" + std::to_string(rank), backend);
  d.world("[0, 1, 2, 3, 4]").at(start).first_record(start == 0 ? 0 : 500);
  for (int i = 1; i <= enqueued; ++i) d.call(kind, i, i <= completed ? "completed" : "scheduled");
  return d.finish();
}

std::vector<std::string> judged(std::vector<formats::Evidence> dumps) {
  return set_aside_texts(join_all(std::move(dumps)));
}

// Rank 1 did not call number 11; rank 2 has done 14.
TEST(ImpossibleProgress, OneThatCompletedWhatAllOthersWaitForIsSetAside) {
  const auto texts =
      judged(list(dump(0, 10, 14), dump(1, 10, 10), dump(2, 14, 14), dump(3, 10, 14), dump(4, 10, 14)));
  ASSERT_EQ(texts.size(), 1u);
  EXPECT_EQ(texts[0],
            "dump_2: another run or moment: it completed operations that need all members, 4 more than 4 of "
            "them completed");
}

TEST(ImpossibleProgress, OneAheadIsALateWatchdog) {
  EXPECT_TRUE(
      judged(list(dump(0, 10, 14), dump(1, 10, 10), dump(2, 11, 14), dump(3, 10, 14), dump(4, 10, 14)))
          .empty());
}

TEST(ImpossibleProgress, OneThatIsBehindStays) {
  EXPECT_TRUE(judged(list(dump(0, 14, 14), dump(1, 14, 14), dump(2, 5, 5), dump(3, 14, 14), dump(4, 14, 14)))
                  .empty());
}

// A root may be done with a broadcast long before the others enter it; gloo has rules of its own.
TEST(ImpossibleProgress, OnlyOperationsThatNeedAllAreProof) {
  for (const auto& [kind, backend] : {std::pair{"broadcast", "nccl"}, std::pair{"all_reduce", "gloo"}}) {
    EXPECT_TRUE(judged(list(dump(0, 10, 14, 0, kind, backend), dump(1, 10, 10, 0, kind, backend),
                            dump(2, 14, 14, 0, kind, backend), dump(3, 10, 14, 0, kind, backend),
                            dump(4, 10, 14, 0, kind, backend)))
                    .empty())
        << kind;
  }
}

// Dumps of a job that runs, taken one after the other: nobody stands.
TEST(ImpossibleProgress, MembersThatRunOnDoNotAgree) {
  EXPECT_TRUE(
      judged(list(dump(0, 8, 9), dump(1, 9, 10), dump(2, 14, 15), dump(3, 10, 11), dump(4, 11, 12))).empty());
}

TEST(ImpossibleProgress, CalledAtQuiteAnotherTimeIsAnotherRunEvenWhileTheJobRuns) {
  const auto texts =
      judged(list(dump(0, 8, 9), dump(1, 9, 10), dump(2, 14, 15, 400), dump(3, 10, 11), dump(4, 11, 12)));
  ASSERT_EQ(texts.size(), 1u);
  EXPECT_EQ(texts[0], "dump_2: another run: it completed operations that the others have not called");
}

// Two others may both be at fault: they are no majority that one could be judged by.
TEST(ImpossibleProgress, FewAreNoMajority) {
  EXPECT_TRUE(judged(list(dump(0, 10, 14), dump(2, 14, 14))).empty());
  EXPECT_TRUE(judged(list(dump(0, 10, 14), dump(1, 10, 10), dump(2, 14, 14))).empty());
}

}  // namespace
}  // namespace unhang::join
