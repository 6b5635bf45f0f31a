// SPDX-License-Identifier: Apache-2.0
#include "cli/log_time_flags.h"

#include <gtest/gtest.h>

namespace unhang::cli {
namespace {

constexpr std::int64_t kMinute = 60'000'000'000;

TEST(LogTimeFlags, AZoneIsReadInEachForm) {
  const auto minutes = [](const char* text) {
    const auto values = values_of({.zone = text, .year = {}});
    return values ? values->zone_ns.value() / kMinute : INT64_MIN;
  };
  EXPECT_EQ(minutes("+02:00"), 120);
  EXPECT_EQ(minutes("-05:30"), -330);
  EXPECT_EQ(minutes("-0530"), -330);
  EXPECT_EQ(minutes("+5:45"), 345);
  EXPECT_EQ(minutes("+2"), 120);
  EXPECT_EQ(minutes("-11"), -660);
  EXPECT_EQ(minutes("+14:00"), 840);
  EXPECT_EQ(minutes("+00:00"), 0);
  EXPECT_EQ(minutes("Z"), 0);
  EXPECT_EQ(minutes("UTC"), 0);
}

TEST(LogTimeFlags, WhatIsNoZoneIsToldWithTheFormsThatAre) {
  for (const char* text : {"", "2", "02:00", "+", "-", "+02:", "+02:60", "+02:0", "+14:01", "+15", "25:00",
                           "+02:00 ", " +02:00", "+020", "++2", "+2h", "CET", "Europe/Berlin", "utc"}) {
    const auto values = values_of({.zone = text, .year = {}});
    ASSERT_FALSE(values) << text;
    EXPECT_EQ(values.error().code, base::ErrorCode::kUsage);
    EXPECT_EQ(values.error().message,
              "flag --tz: '" + std::string(text) + "' is no zone; write it like +02:00, -0530, +2 or UTC");
  }
  EXPECT_EQ(values_of({.zone = "\x1b[2J", .year = {}}).error().message.find('\x1b'), std::string::npos);
}

TEST(LogTimeFlags, WhatIsNotGivenStaysAbsent) {
  const auto values = values_of({});
  ASSERT_TRUE(values);
  EXPECT_FALSE(values->zone_ns);
  EXPECT_FALSE(values->year);
  EXPECT_EQ(values_of({.zone = {}, .year = 2026})->year, 2026);
}

}  // namespace
}  // namespace unhang::cli
