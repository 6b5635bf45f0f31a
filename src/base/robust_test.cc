// SPDX-License-Identifier: Apache-2.0
#include "base/robust.h"

#include <algorithm>
#include <cmath>
#include <limits>

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

TEST(Robust, QuantileIsTheNearestRank) {
  std::vector<std::int64_t> values;
  for (std::int64_t i = 1000; i >= 1; --i) values.push_back(i);
  EXPECT_EQ(quantile(values, 0.99), 990);
  EXPECT_EQ(quantile(values, 0.999), 999);
  EXPECT_EQ(quantile(values, 0), 1);
  EXPECT_EQ(quantile(values, 7), 1000);
  EXPECT_EQ(quantile({}, 0.5), 0);
  EXPECT_EQ(quantile({4}, 0.5), 4);
}

TEST(Robust, OfRealNumbers) {
  const double none = std::nan("");
  const std::vector<double> values{3.5, none, 1.5, 2.5};
  EXPECT_EQ(median_of(values), 2.5);
  EXPECT_EQ(deviation_of(values), 1.0);
  EXPECT_EQ(median_of({}), 0);
}

TEST(Robust, SumsStopAtTheEnds) {
  using Limits = std::numeric_limits<std::int64_t>;
  EXPECT_EQ(add_saturated(Limits::max(), 1), Limits::max());
  EXPECT_EQ(add_saturated(Limits::min(), -1), Limits::min());
  EXPECT_EQ(add_saturated(-4, 9), 5);
  EXPECT_EQ(subtract_saturated(Limits::max(), -1), Limits::max());
  EXPECT_EQ(subtract_saturated(Limits::min(), 1), Limits::min());
  EXPECT_EQ(subtract_saturated(0, Limits::min()), Limits::max());
  EXPECT_EQ(subtract_saturated(4, 9), -5);
}

}  // namespace
}  // namespace unhang::base
