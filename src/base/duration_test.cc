// SPDX-License-Identifier: Apache-2.0
#include "base/duration.h"

#include <random>

#include <gtest/gtest.h>

namespace unhang::base {
namespace {

using std::chrono::nanoseconds;

std::int64_t ns(std::string_view text) {
  const auto value = parse_duration(text);
  EXPECT_TRUE(value) << text << ": " << (value ? "" : value.error().message);
  return value ? value->count() : -1;
}

TEST(Duration, EachUnit) {
  EXPECT_EQ(ns("7ns"), 7);
  EXPECT_EQ(ns("7us"), 7'000);
  EXPECT_EQ(ns("7\u00b5s"), 7'000);
  EXPECT_EQ(ns("500ms"), 500'000'000);
  EXPECT_EQ(ns("25s"), 25'000'000'000);
  EXPECT_EQ(ns("2m"), 120'000'000'000);
  EXPECT_EQ(ns("1h"), 3'600'000'000'000);
  EXPECT_EQ(ns("1d"), 86'400'000'000'000);
}

TEST(Duration, FractionsAreExactAndPartsAdd) {
  EXPECT_EQ(ns("1.5s"), 1'500'000'000);
  EXPECT_EQ(ns("0.1s"), 100'000'000);
  EXPECT_EQ(ns("1.000000001s"), 1'000'000'001);
  EXPECT_EQ(ns("0.25h"), 900'000'000'000);
  EXPECT_EQ(ns("1h30m"), 5'400'000'000'000);
  EXPECT_EQ(ns("1m2.5s"), 62'500'000'000);
  EXPECT_EQ(ns("0"), 0);
  EXPECT_EQ(ns("0s"), 0);
}

TEST(Duration, WhatIsNotOneIsRefusedWithAReason) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"25", "add a unit, as in 25s or 25m"},
      {"", "it is empty"},
      {"s", "write a number"},
      {"-5s", "write a number"},
      {"5 s", "the units are"},
      {"5sec", "the units are"},
      {"1.s", "a digit must follow"},
      {".5s", "write a number"},
      {"1e3s", "the units are"},
      {"30m1h", "larger units come first"},
      {"1s1s", "larger units come first"},
      {"1h30", "add a unit"},
      {"0.5ns", "finer than a nanosecond"},
      {"1.0000000001s", "finer than a nanosecond"},
      {"107000d", "longer than 292 years"},
      {"99999999999999999999s", "longer than 292 years"},
  };
  for (const auto& [text, reason] : cases) {
    const auto value = parse_duration(text);
    ASSERT_FALSE(value) << text;
    EXPECT_EQ(value.error().code, ErrorCode::kUsage);
    EXPECT_NE(value.error().message.find(reason), std::string::npos) << value.error().message;
  }
}

TEST(Duration, FormatsShortAndExact) {
  EXPECT_EQ(format_duration(nanoseconds{0}), "0s");
  EXPECT_EQ(format_duration(nanoseconds{1}), "1ns");
  EXPECT_EQ(format_duration(nanoseconds{1'500}), "1.5us");
  EXPECT_EQ(format_duration(nanoseconds{500'000'000}), "500ms");
  EXPECT_EQ(format_duration(nanoseconds{2'500'000'000}), "2.5s");
  EXPECT_EQ(format_duration(nanoseconds{1'000'000'001}), "1.000000001s");
  EXPECT_EQ(format_duration(nanoseconds{60'000'000'000}), "1m");
  EXPECT_EQ(format_duration(nanoseconds{5'400'000'000'000}), "1h30m");
  EXPECT_EQ(format_duration(nanoseconds{60'020'000'000}), "1m20ms");
  EXPECT_EQ(format_duration(nanoseconds{-1'500'000'000}), "-1.5s");
  EXPECT_EQ(format_duration(nanoseconds::min()), "-106751d23h47m16.854775808s");
}

TEST(Duration, WhatIsFormattedIsReadBack) {
  std::mt19937_64 random(7);  // the same values in every run
  for (int i = 0; i < 10'000; ++i) {
    const nanoseconds value{static_cast<std::int64_t>(random() >> (1 + i % 63))};
    const auto back = parse_duration(format_duration(value));
    ASSERT_TRUE(back) << value.count();
    EXPECT_EQ(back->count(), value.count());
  }
}

}  // namespace
}  // namespace unhang::base
