// SPDX-License-Identifier: Apache-2.0
#include "join/log_zones.h"

#include <string>

#include <gtest/gtest.h>

#include "base/time_text.h"

namespace unhang::join {
namespace {

using model::LogClock;

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kHour = 3'600 * kSecond;
constexpr std::int64_t kCalled = 1'790'000'000 * kSecond;  // 2026-09-21T14:13:20Z

// Rank 3 has called all-reduce 41 in group "9" at kCalled, and its log (input 0) tells of the time-out.
model::Case job(std::int64_t told_after, LogClock clock = LogClock::kLocal) {
  model::Case out;
  out.inputs.resize(2);
  model::Group& group = out.groups.emplace_back();
  group.name = out.vocabulary.symbols.intern("9");
  group.description = out.vocabulary.symbols.intern("tp");
  group.members = {0};
  model::Rank& rank = out.ranks.emplace_back();
  rank.global_rank = 3;
  model::Operation& op = rank.operations.emplace_back();
  op.collective_sequence = 41;
  op.created_ns = kCalled;
  rank.lanes.emplace_back().collectives = {0};
  model::LogOrigin& writer = out.logs.origins.emplace_back();
  writer.global_rank = 3;
  model::WatchdogTimeout& timeout = out.logs.timeouts.emplace_back();
  timeout.group = "9";
  timeout.sequence = 41;
  timeout.timeout_ms = 600'000;
  timeout.ran_ms = 600'050;
  timeout.at = {clock, kCalled + told_after};
  return out;
}

std::string assumed(const model::Case& c) {
  std::string out;
  for (const auto& one : c.time_assumptions) out += std::to_string(one.input) + " " + one.text + "; ";
  return out;
}

TEST(LogZones, ATimeOutBesideItsRecordedCallTellsTheZone) {
  model::Case c = job(600 * kSecond + 2 * kHour);
  model::LogEvent& event = c.logs.events.emplace_back();
  event.first = event.last = {LogClock::kLocal, kCalled + 2 * kHour};
  infer_zones(c);
  EXPECT_EQ(assumed(c),
            "0 no zone: +02:00, from time-outs of the watchdog beside the Flight Recorder's times; ");
  EXPECT_EQ(c.logs.timeouts[0].at.clock, LogClock::kUtc);
  EXPECT_EQ(c.logs.timeouts[0].at.ns, kCalled + 600 * kSecond);
  EXPECT_EQ(base::utc_text(c.logs.events[0].first.ns), base::utc_text(kCalled));
}

TEST(LogZones, ZonesLieWestAndOnQuartersToo) {
  model::Case west = job(600 * kSecond - 7 * kHour);
  infer_zones(west);
  EXPECT_EQ(assumed(west).substr(0, 19), "0 no zone: -07:00, ");
  model::Case nepal = job(601 * kSecond + 5 * kHour + 2'700 * kSecond);
  infer_zones(nepal);
  EXPECT_EQ(assumed(nepal).substr(0, 19), "0 no zone: +05:45, ");
}

TEST(LogZones, WhatIsNoQuarterHourIsNoZone) {
  model::Case c = job(600 * kSecond + 2 * kHour + 400 * kSecond);
  infer_zones(c);
  EXPECT_EQ(assumed(c), "0 no zone: read as UTC; ");
  EXPECT_EQ(c.logs.timeouts[0].at.clock, LogClock::kLocal);
  model::Case far = job(600 * kSecond + 20 * kHour);
  infer_zones(far);
  EXPECT_EQ(assumed(far), "0 no zone: read as UTC; ");
}

TEST(LogZones, AnotherCallIsNoWitness) {
  model::Case c = job(600 * kSecond + 2 * kHour);
  c.logs.timeouts[0].group = "10";
  infer_zones(c);
  EXPECT_EQ(assumed(c), "0 no zone: read as UTC; ");
}

TEST(LogZones, TimesInUtcNeedNothing) {
  model::Case c = job(600 * kSecond, LogClock::kUtc);
  infer_zones(c);
  EXPECT_EQ(assumed(c), "");
}

TEST(LogZones, ACommunicatorThatIsCompleteInTwoLogsTellsTheZone) {
  model::Case c;
  c.logs.origins.resize(1);
  for (const auto& [input, clock, ns] : {std::tuple{0u, LogClock::kUtc, kCalled},
                                         std::tuple{1u, LogClock::kLocal, kCalled + kSecond - 5 * kHour}}) {
    model::LogCommunicator& made = c.logs.communicators.emplace_back();
    made.input = input;
    made.id = 7;
    made.completed = true;
    made.completed_at = {clock, ns};
  }
  infer_zones(c);
  EXPECT_EQ(assumed(c),
            "1 no zone: -05:00, from communicators that a log in UTC shows complete at the same moment; ");
  EXPECT_EQ(c.logs.communicators[1].completed_at.ns, kCalled + kSecond);
}

TEST(LogZones, OtherLogsOfTheHostHaveItsZoneButNotTheKernels) {
  model::Case c = job(600 * kSecond + 2 * kHour);
  c.inputs.resize(4);
  c.logs.origins[0].host = "a";
  c.logs.origins.emplace_back().host = "a";
  c.logs.origins.emplace_back().host = "b";
  c.logs.origins.emplace_back().host = "a";
  c.logs.origins.back().label = "kernel";
  for (const std::uint32_t input : {1u, 2u, 3u}) {
    model::LogEvent& event = c.logs.events.emplace_back();
    event.input = event.origin = input;
    event.first = event.last = {LogClock::kLocal, kCalled};
  }
  infer_zones(c);
  EXPECT_EQ(assumed(c),
            "0 no zone: +02:00, from time-outs of the watchdog beside the Flight Recorder's times; "
            "1 no zone: +02:00, as other logs of a show; 2 no zone: read as UTC; 3 no zone: read as UTC; ");
  EXPECT_EQ(c.logs.events[0].first.clock, LogClock::kUtc);
  EXPECT_EQ(c.logs.events[2].first.clock, LogClock::kLocal);
}

TEST(LogZones, DumpsTellTheYear) {
  model::Case c = job(0);
  // 21 September 1972, 16:23:20: the call, the limit and two hours.
  c.logs.timeouts[0].at = {LogClock::kLocalNoYear, 994 * 24 * kHour + 16 * kHour + 1'400 * kSecond};
  infer_zones(c);
  EXPECT_EQ(assumed(c),
            "0 no year: 2026, as the Flight Recorder's times show; "
            "0 no zone: +02:00, from time-outs of the watchdog beside the Flight Recorder's times; ");
  EXPECT_EQ(base::utc_text(c.logs.timeouts[0].at.ns), "2026-09-21T14:23:20.000000000Z");
}

TEST(LogZones, NumbersThatNoClockShowsAreNoTimes) {
  model::Case c = job(600 * kSecond);
  c.ranks[0].operations[0].created_ns = INT64_MIN;
  c.logs.timeouts[0].at.ns = INT64_MAX;
  c.logs.timeouts[0].ran_ms = INT64_MAX;
  infer_zones(c);
  EXPECT_EQ(assumed(c), "0 no zone: read as UTC; ");
}

}  // namespace
}  // namespace unhang::join
