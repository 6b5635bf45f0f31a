// SPDX-License-Identifier: Apache-2.0
#include "cli/flag_value.h"

#include <gtest/gtest.h>

namespace unhang::cli {
namespace {

template <class T>
std::string error_of(T& target, std::string_view text,
                     std::int64_t minimum = std::numeric_limits<std::int64_t>::min()) {
  const auto stored = set_value({.name = "--x", .value = "V", .target = &target, .minimum = minimum}, text);
  return stored ? "" : stored.error().message;
}

TEST(FlagValue, IntegersOfEachType) {
  int i = 0;
  unsigned u = 0;
  std::int64_t wide = 0;
  std::optional<std::int64_t> maybe;
  EXPECT_EQ(error_of(i, "-7"), "");
  EXPECT_EQ(i, -7);
  EXPECT_EQ(error_of(u, "4294967295"), "");
  EXPECT_EQ(u, 4294967295u);
  EXPECT_EQ(error_of(wide, "9223372036854775807"), "");
  EXPECT_EQ(wide, INT64_MAX);
  EXPECT_EQ(error_of(maybe, "0"), "");
  EXPECT_EQ(maybe, 0);
  EXPECT_EQ(error_of(i, "2147483648"),
            "flag --x: 2147483648 is out of range; it must be from -2147483648 to 2147483647");
  EXPECT_EQ(error_of(u, "-1"), "flag --x: -1 is out of range; it must be from 0 to 4294967295");
  EXPECT_EQ(error_of(wide, "0", 1), "flag --x: 0 is out of range; it must be at least 1");
  EXPECT_EQ(error_of(wide, ""), "flag --x: '' is not a whole number");
  EXPECT_EQ(error_of(wide, "+5"), "flag --x: '+5' is not a whole number");
  EXPECT_EQ(error_of(wide, "0x10"), "flag --x: '0x10' is not a whole number");
  EXPECT_EQ(i, -7) << "a refused value changes nothing";
}

TEST(FlagValue, Numbers) {
  double d = 0;
  std::optional<double> maybe;
  EXPECT_EQ(error_of(d, "0.25"), "");
  EXPECT_EQ(d, 0.25);
  EXPECT_EQ(error_of(maybe, "1e3"), "");
  EXPECT_EQ(maybe, 1000.0);
  for (const std::string_view text : {"", "nan", "inf", "1,5", "5%"}) {
    EXPECT_EQ(error_of(d, text), "flag --x: '" + std::string(text) + "' is not a number");
  }
  EXPECT_EQ(error_of(d, "-0.5", 0), "flag --x: -0.5 is out of range; it must be at least 0");
}

TEST(FlagValue, TextListsAndDurations) {
  std::string text;
  std::vector<std::string> list;
  std::optional<std::chrono::nanoseconds> time;
  EXPECT_EQ(error_of(text, "a b"), "");
  EXPECT_EQ(error_of(list, "a"), "");
  EXPECT_EQ(error_of(list, "b"), "");
  EXPECT_EQ(error_of(time, "500ms"), "");
  EXPECT_EQ(text, "a b");
  EXPECT_EQ(list, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(time, std::chrono::milliseconds(500));
  EXPECT_NE(error_of(time, "soon").find("'soon' is not a duration"), std::string::npos);
}

TEST(FlagValue, ANumberWithoutAUnitCountsSecondsOnlyWhereTheFlagSaysSo) {
  std::chrono::nanoseconds time{};
  const auto error_with = [&time](bool plain, std::string_view text) {
    const auto stored =
        set_value({.name = "--x", .value = "TIME", .target = &time, .plain_seconds = plain}, text);
    return stored ? "" : stored.error().message;
  };
  EXPECT_EQ(error_with(true, "60"), "");
  EXPECT_EQ(time, std::chrono::seconds(60));
  EXPECT_EQ(error_with(true, "1.5"), "");
  EXPECT_EQ(time, std::chrono::milliseconds(1500));
  EXPECT_EQ(error_with(true, "2m"), "");
  EXPECT_EQ(time, std::chrono::minutes(2));
  EXPECT_NE(error_with(false, "60").find("add a unit"), std::string::npos);
  for (const std::string_view text : {"", ".", "-5", "1.2.3", "60 "}) EXPECT_NE(error_with(true, text), "");
  EXPECT_EQ(time, std::chrono::minutes(2)) << "a refused value changes nothing";
}

TEST(FlagValue, SwitchesAndCounters) {
  bool on = false;
  int count = 1;
  set_switch({.name = "--x", .target = &on}, 0);
  EXPECT_FALSE(on);
  set_switch({.name = "--x", .target = &on}, 2);
  EXPECT_TRUE(on);
  set_switch({.name = "--x", .target = &count}, 2);
  EXPECT_EQ(count, 3);
}

TEST(FlagValue, DefaultsForHelp) {
  bool on = true;
  int count = 3, number = 3;
  double ratio = 1.5;
  std::string text = "auto", empty;
  std::optional<int> maybe = 5;
  std::chrono::nanoseconds time = std::chrono::seconds(25);
  const auto shown = [](const std::string& value, FlagTarget target) {
    return default_text({.name = "--x", .value = value, .target = target});
  };
  EXPECT_EQ(shown("", &on), "");
  EXPECT_EQ(shown("", &count), "");
  EXPECT_EQ(shown("N", &number), "3");
  EXPECT_EQ(shown("N", &ratio), "1.5");
  EXPECT_EQ(shown("WORD", &text), "auto");
  EXPECT_EQ(shown("WORD", &empty), "");
  EXPECT_EQ(shown("N", &maybe), "");
  EXPECT_EQ(shown("TIME", &time), "25s");
}

}  // namespace
}  // namespace unhang::cli
