// SPDX-License-Identifier: Apache-2.0
#include "base/robust.h"

#include <algorithm>

#include <gtest/gtest.h>
#include <rapidcheck.h>

namespace unhang::base {
namespace {

TEST(Median, IsTheLowerOne) {
  EXPECT_EQ(median({}), 0);
  EXPECT_EQ(median({7}), 7);
  EXPECT_EQ(median({9, 1}), 1);
  EXPECT_EQ(median({5, 1, 3}), 3);
  EXPECT_EQ(median({4, 2, 1, 3}), 2);
  EXPECT_EQ(median({-5, -1, -3}), -3);
}

TEST(Median, OneWildValueDoesNotBendIt) {
  EXPECT_EQ(median({1, 2, 3, 4, 1'000'000'000'000}), 3);
}

TEST(MedianDeviation, OfTheMedian) {
  EXPECT_EQ(median_deviation({}), 0);
  EXPECT_EQ(median_deviation({3}), 0);
  EXPECT_EQ(median_deviation({1, 1, 2, 2, 4, 6, 9}), 1);  // median 2, distances 1 1 0 0 2 4 7
  EXPECT_EQ(median_deviation({5, 5, 5, 5, 900}), 0);
}

TEST(Median, SplitsTheList) {
  EXPECT_TRUE(rc::check("half lie on each side", [](std::vector<std::int64_t> values) {
    RC_PRE(!values.empty());
    const std::int64_t middle = median(values);
    std::sort(values.begin(), values.end());
    RC_ASSERT(values[(values.size() - 1) / 2] == middle);
  }));
}

}  // namespace
}  // namespace unhang::base
