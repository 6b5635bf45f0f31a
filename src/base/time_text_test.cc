// SPDX-License-Identifier: Apache-2.0
#include "base/time_text.h"

#include <limits>

#include <gtest/gtest.h>

namespace unhang::base {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

TEST(UtcText, KnownMoments) {
  EXPECT_EQ(utc_text(0), "1970-01-01T00:00:00.000000000Z");
  EXPECT_EQ(utc_text(1'700'000'000 * kSecond + 123456789), "2023-11-14T22:13:20.123456789Z");
  EXPECT_EQ(utc_text(1'000'000'000 * kSecond), "2001-09-09T01:46:40.000000000Z");
  EXPECT_EQ(utc_text(2'147'483'647 * kSecond), "2038-01-19T03:14:07.000000000Z");
}

TEST(UtcText, LeapDays) {
  EXPECT_EQ(utc_text(951'782'400 * kSecond), "2000-02-29T00:00:00.000000000Z");
  EXPECT_EQ(utc_text(951'868'800 * kSecond - 1), "2000-02-29T23:59:59.999999999Z");
  EXPECT_EQ(utc_text(1'709'164'800 * kSecond), "2024-02-29T00:00:00.000000000Z");
  EXPECT_EQ(utc_text(1'709'251'200 * kSecond), "2024-03-01T00:00:00.000000000Z");
  EXPECT_EQ(utc_text(1'677'628'800 * kSecond - kSecond), "2023-02-28T23:59:59.000000000Z");
  EXPECT_EQ(utc_text(4'107'542'400 * kSecond), "2100-03-01T00:00:00.000000000Z");
  EXPECT_EQ(utc_text(4'107'542'400 * kSecond - kSecond), "2100-02-28T23:59:59.000000000Z");
}

TEST(UtcText, BeforeTheEpoch) {
  EXPECT_EQ(utc_text(-1), "1969-12-31T23:59:59.999999999Z");
  EXPECT_EQ(utc_text(-86400 * kSecond), "1969-12-31T00:00:00.000000000Z");
  EXPECT_EQ(utc_text(-2'203'891'200 * kSecond), "1900-03-01T00:00:00.000000000Z");
}

TEST(UtcText, Extremes) {
  EXPECT_EQ(utc_text(std::numeric_limits<std::int64_t>::max()), "2262-04-11T23:47:16.854775807Z");
  EXPECT_EQ(utc_text(std::numeric_limits<std::int64_t>::min()), "1677-09-21T00:12:43.145224192Z");
}

TEST(ParseUtc, ReadsWhatUtcTextWrites) {
  for (const std::int64_t ns :
       {std::int64_t{0}, std::int64_t{-1}, 1'709'164'800 * kSecond + 5, -2'203'891'200 * kSecond,
        4'107'542'400 * kSecond - 1, 1'700'000'000 * kSecond + 123456789})
    EXPECT_EQ(parse_utc(utc_text(ns)), ns) << utc_text(ns);
}

TEST(ParseUtc, FewerDigitsBehindTheSeconds) {
  EXPECT_EQ(parse_utc("2001-09-09T01:46:40Z"), 1'000'000'000 * kSecond);
  EXPECT_EQ(parse_utc("2001-09-09T01:46:40.5Z"), 1'000'000'000 * kSecond + kSecond / 2);
}

TEST(ParseUtc, RefusesEverythingElse) {
  for (const char* text :
       {"", "2001-09-09", "2001-09-09T01:46:40", "2001-09-09 01:46:40Z", "2001-09-09T01:46:40+00:00",
        "2001-02-29T00:00:00Z", "2001-13-01T00:00:00Z", "2001-00-01T00:00:00Z", "2001-01-00T00:00:00Z",
        "2001-09-09T24:00:00Z", "2001-09-09T01:60:00Z", "2001-09-09T01:46:60Z", "2001-09-09T01:46:40.Z",
        "2001-09-09T01:46:40.1234567890Z", "2001-09-09T01:46:40ZZ", "9999-09-09T01:46:40Z",
        "1677-09-09T01:46:40Z", "-001-09-09T01:46:40Z", "2001-9-09T01:46:40Z"})
    EXPECT_EQ(parse_utc(text), std::nullopt) << text;
}

}  // namespace
}  // namespace unhang::base
