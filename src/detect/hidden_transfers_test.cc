// SPDX-License-Identifier: Apache-2.0
//
// gloo records no point-to-point work, but counts it in op_id: an idle rank may wait in a transfer that
// nobody sees, so fewer are named, and less surely.
#include <gtest/gtest.h>

#include "detect/case_builder_for_tests.h"

namespace unhang::detect {
namespace {

// Rank 3 is missing among four, rank 5 among two; op_id is ahead of the collectives by `hidden`.
model::Case two_missing(std::int64_t hidden, std::string_view backend = "gloo") {
  CaseBuilder c(6);
  const auto four = c.group("1", "four", {0, 1, 2, 3}, backend);
  const auto two = c.group("2", "two", {4, 5}, backend);
  c.done(four, "all_reduce").done(two, "all_reduce").open(four, "all_reduce", {0, 1, 2});
  c.open(two, "all_reduce", {4});
  model::Case joined = c.take();
  for (model::Rank& rank : joined.ranks) {
    for (model::Operation& op : rank.operations) op.op_id = op.collective_sequence + hidden;
  }
  return joined;
}

TEST(HiddenTransfers, AreToldByTheCounters) {
  EXPECT_TRUE(hides_transfers(two_missing(1)));
  EXPECT_FALSE(hides_transfers(two_missing(0)));
  EXPECT_FALSE(hides_transfers(two_missing(3, "nccl")));
}

TEST(HiddenTransfers, OnlyTheNearestMissingRankIsBlamed) {
  const model::Case joined = two_missing(3);
  const auto found = find_not_entered(analyse(joined));
  EXPECT_EQ(summary(found), "collective_desync/rank_not_entered medium 3");
  EXPECT_EQ(found.at(0).suspects, (std::vector<model::RankIndex>{5}));
}

TEST(HiddenTransfers, NoneHiddenNamesAll) {
  const model::Case joined = two_missing(0);
  const auto found = find_not_entered(analyse(joined));
  EXPECT_EQ(summary(found), "collective_desync/rank_not_entered high 3,5");
  EXPECT_TRUE(found.at(0).suspects.empty());
}

}  // namespace
}  // namespace unhang::detect
