// SPDX-License-Identifier: Apache-2.0
//
// A step is found where it is, noise is not called one, and nothing depends on wild values.
#include "base/change_point.h"

#include <cmath>
#include <cstdint>
#include <limits>

#include <gtest/gtest.h>

namespace unhang::base {
namespace {

// A generator of our own, so that the series are the same everywhere (splitmix64; Steele, Lea, Flood 2014).
class Noise {
 public:
  explicit Noise(std::uint64_t seed) : x_state(seed * 0x9e3779b97f4a7c15ULL + 1) {}
  double uniform() {
    std::uint64_t z = x_state += 0x9e3779b97f4a7c15ULL;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return static_cast<double>((z ^ (z >> 31)) >> 11) / 9007199254740992.0;
  }
  double normal() {
    return std::sqrt(-2 * std::log(uniform() + 1e-12)) * std::cos(6.283185307179586 * uniform());
  }

 private:
  std::uint64_t x_state;
};

std::vector<double> series(std::size_t count, std::size_t step_at, double ratio, double noise,
                           std::uint64_t seed) {
  Noise random(seed);
  std::vector<double> out;
  for (std::size_t i = 0; i < count; ++i) {
    out.push_back(10 * (i < step_at ? 1 : ratio) * std::exp(noise * random.normal()));
    if (i % 37 == 5) out.back() *= 20;  // now and then something wild
  }
  return out;
}

TEST(ChangePoint, ExactChanceOfASmallSample) {
  // All of ten before all of ten: 2 * 1 / C(20,10), at one place that was looked at.
  std::vector<double> values;
  for (int i = 0; i < 20; ++i) values.push_back(i);
  const auto change = find_change(values, 10);
  ASSERT_TRUE(change.has_value());
  EXPECT_EQ(change->at, 10u);
  EXPECT_NEAR(change->p, 2.0 / 184756, 1e-12);
}

TEST(ChangePoint, PettittsApproximation) {
  // K of 60 ascending values is 30 * 30: p = 2 exp(-6 * 900^2 / (60^3 + 60^2)).
  std::vector<double> values;
  for (int i = 0; i < 60; ++i) values.push_back(i);
  const auto change = find_change(values, 10);
  ASSERT_TRUE(change.has_value());
  EXPECT_EQ(change->at, 30u);
  EXPECT_NEAR(change->p, 2 * std::exp(-6.0 * 810000 / 219600), 1e-15);
}

TEST(ChangePoint, AStepIsFoundWhereItIs) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    const auto levels = find_levels(series(200, 120, 1.3, 0.05, seed));
    ASSERT_EQ(levels.size(), 2u) << seed;
    EXPECT_NEAR(static_cast<double>(levels[1].begin), 120, 5) << seed;
    EXPECT_NEAR(levels[1].median / levels[0].median, 1.3, 0.05) << seed;
  }
}

TEST(ChangePoint, TenAndTenAreEnough) {
  std::vector<double> values = series(20, 10, 1.5, 0.03, 7);
  values[5] /= 20;
  const auto levels = find_levels(values);
  ASSERT_EQ(levels.size(), 2u);
  EXPECT_EQ(levels[1].begin, 10u);
  EXPECT_EQ(find_levels(series(19, 9, 1.5, 0.03, 7)).size(), 1u);
}

TEST(ChangePoint, NoiseIsNone) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    for (const double noise : {0.0, 0.05, 0.5}) {
      for (const std::size_t count : {20, 47, 48, 49, 200})
        EXPECT_EQ(find_levels(series(count, count, 1, noise, seed)).size(), 1u)
            << seed << ' ' << noise << ' ' << count;
    }
  }
}

// Sure, and too small to matter.
TEST(ChangePoint, LessThanATenthIsNone) {
  EXPECT_EQ(find_levels(series(400, 200, 1.05, 0.01, 3)).size(), 1u);
  EXPECT_EQ(find_levels(series(400, 200, 1.05, 0.01, 3), {.least_ratio = 1.02}).size(), 2u);
}

TEST(ChangePoint, ThereAndBack) {
  std::vector<double> values = series(300, 100, 2, 0.05, 11);
  for (std::size_t i = 160; i < values.size(); ++i) values[i] /= 2;
  const auto levels = find_levels(values);
  ASSERT_EQ(levels.size(), 3u);
  EXPECT_NEAR(static_cast<double>(levels[1].begin), 100, 3);
  EXPECT_NEAR(static_cast<double>(levels[2].begin), 160, 3);
  EXPECT_NEAR(levels[2].median / levels[0].median, 1, 0.05);
}

TEST(ChangePoint, WhatIsNoNumberIsRefused) {
  const double none = std::numeric_limits<double>::quiet_NaN();
  std::vector<double> values(40, 1.0);
  EXPECT_EQ(find_levels(values).size(), 1u);
  for (const double wrong : {none, std::numeric_limits<double>::infinity(), 0.0, -1.0}) {
    values[20] = wrong;
    EXPECT_TRUE(find_levels(values).empty()) << wrong;
  }
  values[20] = none;
  EXPECT_FALSE(find_change(values, 10).has_value());
  EXPECT_TRUE(find_levels({}).empty());
  EXPECT_FALSE(find_change({}, 0).has_value());
}

TEST(ChangePoint, ManyLevelsAreBounded) {
  std::vector<double> values;
  for (int level = 0; level < 40; ++level) values.insert(values.end(), 60, 1.0 + level);
  EXPECT_LE(find_levels(values).size(), 8u);
}

}  // namespace
}  // namespace unhang::base
