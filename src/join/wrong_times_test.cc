// SPDX-License-Identifier: Apache-2.0
//
// Times that cannot be right neither reach the Case nor set aside the job.
#include <gtest/gtest.h>

#include "join/dumps_for_tests.h"

namespace unhang::join {
namespace {

TEST(WrongTimes, OutOfRangeIsNotRecorded) {
  for (const std::int64_t seconds : {-1'700'000'001LL, 2'400'000'000LL, 7'000'000'000LL}) {
    TestDump d("dump_0");
    d.world("[0]").at(seconds).call("all_reduce", 1, "completed");
    EXPECT_EQ(join_all(list(d.finish())).ranks.at(0).operations.at(0).created_ns, 0) << seconds;
  }
  TestDump late("dump_0");
  late.world("[0]").at(2'299'999'999).call("all_reduce", 1, "completed");
  EXPECT_EQ(join_all(list(late.finish())).ranks.at(0).operations.at(0).created_ns,
            3'999'999'999 * TestDump::kSecond);
}

// `early` of five dumps end before the others' first call, at most as far as one run can spread.
model::Case with_early(int early) {
  std::vector<formats::Evidence> all;
  for (int rank = 0; rank < 5; ++rank) {
    TestDump d("dump_" + std::to_string(rank));
    d.world("[0, 1, 2, 3, 4]");
    rank < early ? d.at(0).first_record(7) : d.at(1200);
    d.call("all_reduce", 1, "completed");
    all.push_back(d.finish());
  }
  return join_all(std::move(all));
}

TEST(WrongTimes, FewMayBeLeftFromAnEarlierStart) {
  const auto texts = set_aside_texts(with_early(2));
  ASSERT_EQ(texts.size(), 2u);
  for (const std::string& text : texts) EXPECT_NE(text.find(": an earlier start"), std::string::npos) << text;
}

TEST(WrongTimes, MostCannot) {
  EXPECT_TRUE(set_aside_texts(with_early(3)).empty());
}

// A second dump of the same rank is not of another job.
TEST(WrongTimes, SecondDumpsAreTold) {
  TestDump zero("a/dump_0");
  TestDump again("b/dump_0");
  zero.world("[0, 1]").call("all_reduce", 1, "completed");
  again.world("[0, 1]").call("all_reduce", 1, "completed");
  const model::Case joined = join_all(list(zero.finish(), again.finish()));
  ASSERT_EQ(joined.set_aside.size(), 1u);
  EXPECT_TRUE(joined.set_aside[0].is_second);
  const model::Case early = with_early(1);
  ASSERT_EQ(early.set_aside.size(), 1u);
  EXPECT_FALSE(early.set_aside[0].is_second);
}

}  // namespace
}  // namespace unhang::join
