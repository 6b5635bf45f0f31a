// SPDX-License-Identifier: Apache-2.0
//
// A circle of two with a crowd behind one of them: most ranks go the usual way, so the other side is to
// blame.
#include <gtest/gtest.h>

#include "detect/case_builder_for_tests.h"

namespace unhang::detect {
namespace {

// Ranks 0 to 4 stand in one group and wait for rank 5, which stands in another and waits for rank 0.
TEST(CrowdedCycle, FewerWaitersAreToBlame) {
  for (const bool crowd_first : {true, false}) {
    CaseBuilder c(6);
    const auto crowd = c.group("1", "dp", {0, 1, 2, 3, 4, 5});
    const auto pair = c.group("2", "tp", {0, 5});
    c.done(crowd, "all_reduce").done(pair, "all_gather");
    if (crowd_first) c.open(crowd, "all_reduce", {0, 1, 2, 3, 4});
    c.open(pair, "all_gather", {5});
    if (!crowd_first) c.open(crowd, "all_reduce", {0, 1, 2, 3, 4});
    const auto found = c.run(find_wait_cycle);
    EXPECT_EQ(summary(found), "collective_desync/order_inversion medium 5");
  }
}

// Nobody behind either side: a tie.
TEST(CrowdedCycle, WithoutACrowdBothAreNamed) {
  CaseBuilder c(2);
  const auto a = c.group("1", "a", {0, 1});
  const auto b = c.group("2", "b", {0, 1});
  c.open(a, "all_reduce", {0}).open(b, "all_gather", {1});
  EXPECT_EQ(summary(c.run(find_wait_cycle)), "collective_desync/order_inversion medium 0,1");
}

// The circle itself tells first: three of its four went one way, whatever crowd waits behind the fourth.
TEST(CrowdedCycle, TheCircleComesBeforeTheCrowd) {
  CaseBuilder c(9);
  const auto a = c.group("1", "a", {0, 1, 2, 3});
  const auto b = c.group("2", "b", {0, 1, 2, 3, 4, 5, 6, 7, 8});
  c.open(a, "all_reduce", {0, 1, 2}).open(b, "all_gather", {3, 4, 5, 6, 7, 8});
  EXPECT_EQ(summary(c.run(find_wait_cycle)), "collective_desync/order_inversion high 3");
}

}  // namespace
}  // namespace unhang::detect
