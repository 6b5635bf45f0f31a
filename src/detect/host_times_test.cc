// SPDX-License-Identifier: Apache-2.0
#include "detect/host_times.h"

#include <limits>

#include <gtest/gtest.h>

namespace unhang::detect {
namespace {

using model::LogClock;

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kNow = 1'700'000'000 * kSecond;

// a is the reference, b is 5 s ahead, known to 0.2 s; nobody knows of c.
model::Case three_hosts() {
  model::Case out;
  for (const char* host : {"a", "b", "c"}) out.ranks.emplace_back().host = host;
  out.hosts.push_back({"b", {"10.0.0.2"}, {}});
  out.clocks.push_back(
      {.host = "a", .offset_ns = 0, .spread_ns = 0, .samples = 9, .known = true, .basis = ""});
  out.clocks.push_back({.host = "b",
                        .offset_ns = 5 * kSecond,
                        .spread_ns = kSecond / 5,
                        .samples = 9,
                        .known = true,
                        .basis = ""});
  out.clocks.push_back(
      {.host = "c", .offset_ns = 0, .spread_ns = 0, .samples = 0, .known = false, .basis = ""});
  return out;
}

TEST(HostTimes, OffsetsAreTakenOff) {
  const model::Case c = three_hosts();
  const HostTimes times(c);
  EXPECT_EQ(times.of("a", kNow)->ns, kNow);
  EXPECT_EQ(times.of("b", kNow)->ns, kNow - 5 * kSecond);
  EXPECT_EQ(times.of("10.0.0.2", kNow)->ns, kNow - 5 * kSecond) << "an address of b";
  EXPECT_EQ(times.of("c", kNow)->ns, kNow);
  EXPECT_FALSE(times.of("c", kNow)->host_known);
}

TEST(HostTimes, OrderAcrossHostsIsClaimedOnlyBeyondTheSpread) {
  const model::Case c = three_hosts();
  const HostTimes times(c);
  const Moment a = *times.of("a", kNow);
  EXPECT_FALSE(times.surely_before(a, *times.of("b", kNow + 5 * kSecond + kSecond / 10)));
  EXPECT_TRUE(times.surely_before(a, *times.of("b", kNow + 5 * kSecond + kSecond / 4)));
  EXPECT_FALSE(times.surely_before(a, *times.of("b", kNow + 4 * kSecond))) << "its clock is ahead";
  EXPECT_FALSE(times.surely_before(a, *times.of("b", kNow + 8 * kSecond), 10 * kSecond)) << "the margin";
  EXPECT_TRUE(times.surely_before(*times.of("b", kNow), *times.of("b", kNow + 1))) << "one clock";
}

TEST(HostTimes, NothingIsClaimedOfAClockThatNobodyKnows) {
  const model::Case c = three_hosts();
  const HostTimes times(c);
  EXPECT_FALSE(times.surely_before(*times.of("a", kNow), *times.of("c", kNow + 3'600 * kSecond)));
  EXPECT_FALSE(times.surely_before(*times.of("a", kNow), *times.of("", kNow + 3'600 * kSecond)));
}

TEST(HostTimes, ATimeWithoutZoneProvesNothingBesideUtc) {
  const model::Case c = three_hosts();
  const HostTimes times(c);
  const Moment utc = *times.of("a", {LogClock::kUtc, kNow});
  const Moment local = *times.of("a", {LogClock::kLocal, kNow + 600 * kSecond});
  EXPECT_FALSE(times.surely_before(utc, local));
  EXPECT_TRUE(times.surely_before(*times.of("a", {LogClock::kLocal, kNow}), local));
  EXPECT_FALSE(times.of("a", {LogClock::kUptime, kNow}));
  EXPECT_FALSE(times.of("a", {LogClock::kLocalNoYear, kNow}));
}

TEST(HostTimes, OfOneMachineAllTimesCompare) {
  model::Case c;
  c.ranks.emplace_back().host = "a";
  c.ranks.emplace_back();
  const HostTimes times(c);
  EXPECT_TRUE(times.surely_before(*times.of("", kNow), *times.of("a", kNow + 1)));
}

TEST(HostTimes, NumbersThatNoClockShowsAreNoTimes) {
  const model::Case c = three_hosts();
  const HostTimes times(c);
  EXPECT_FALSE(times.of("a", 0));
  EXPECT_FALSE(times.of("b", std::numeric_limits<std::int64_t>::max()));
  EXPECT_FALSE(times.of("b", std::numeric_limits<std::int64_t>::min()));
}

}  // namespace
}  // namespace unhang::detect
