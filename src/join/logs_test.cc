// SPDX-License-Identifier: Apache-2.0
#include "join/logs.h"

#include <gtest/gtest.h>

#include "base/time_text.h"
#include "join/log_ranks.h"

namespace unhang::join {
namespace {

using model::LogClock;
using model::LogEventKind;

std::int64_t ns(const char* text) {
  return base::parse_utc(text).value();
}

// As the readers give it: of the year 1972.
model::LogTime without_year(const char* text_of_1972) {
  return {LogClock::kLocalNoYear, ns(text_of_1972)};
}

model::LogEvent event(LogEventKind kind, std::uint32_t origin, model::LogTime time = {}) {
  model::LogEvent out;
  out.kind = kind;
  out.origin = origin;
  out.line = 1;
  out.first = out.last = time;
  return out;
}

model::LogCommunicator communicator(std::uint32_t origin, std::int32_t rank, std::int32_t ranks) {
  model::LogCommunicator out;
  out.origin = origin;
  out.rank = rank;
  out.ranks = ranks;
  return out;
}

TEST(LogYear, IsTheOneThatPutsADateNearItsNeighbours) {
  const std::int64_t near = ns("2026-02-18T10:00:00Z");
  EXPECT_EQ(with_year(ns("1972-02-18T10:48:25Z"), near), ns("2026-02-18T10:48:25Z"));
  EXPECT_EQ(with_year(ns("1972-12-31T23:59:59Z"), near), ns("2025-12-31T23:59:59Z"));
  EXPECT_EQ(with_year(ns("1972-03-01T00:00:00Z"), near), ns("2026-03-01T00:00:00Z"));
  EXPECT_EQ(with_year(ns("1972-01-02T00:00:00Z"), ns("2025-12-30T00:00:00Z")), ns("2026-01-02T00:00:00Z"));
  EXPECT_EQ(with_year(ns("1972-03-01T00:00:00Z"), ns("2024-03-01T00:00:00Z")), ns("2024-03-01T00:00:00Z"));
}

TEST(LogYear, ComesFromTheFileItselfThenFromTheOthersThenFromThePerson) {
  const auto join = [](bool own, bool other, std::optional<std::int32_t> hint) {
    LogJoin joiner;
    model::Log first;
    first.origins.emplace_back();
    first.events.push_back(event(LogEventKind::kXid, 0, without_year("1972-05-15T23:09:27Z")));
    if (own)
      first.events.push_back(
          event(LogEventKind::kCheckpoint, 0, {LogClock::kUtc, ns("2024-05-01T00:00:00Z")}));
    joiner.add(std::move(first), 0);
    model::Log second;
    second.origins.emplace_back();
    if (other)
      second.events.push_back(
          event(LogEventKind::kCheckpoint, 0, {LogClock::kLocal, ns("2025-05-01T00:00:00Z")}));
    joiner.add(std::move(second), 1);
    return joiner.finish({{"a", "log", {}}, {"b", "log", {}}}, {.year = hint, .zone_ns = {}})
        .events.front()
        .first;
  };
  EXPECT_EQ(join(true, true, {}).ns, ns("2024-05-15T23:09:27Z"));
  EXPECT_EQ(join(false, true, {}).ns, ns("2025-05-15T23:09:27Z"));
  EXPECT_EQ(join(true, true, 2021).ns, ns("2021-05-15T23:09:27Z"));
  EXPECT_EQ(join(true, true, 2021).clock, LogClock::kLocal);
  EXPECT_EQ(join(false, false, {}).clock, LogClock::kLocalNoYear) << "nothing tells the year: it stays open";
}

// A trainer that states no zone, and the kernel of the same machine that does.
model::Log times_with(const LogHints& hints, model::LogTime trainer) {
  LogJoin joiner;
  model::Log first;
  first.origins.emplace_back();
  first.events.push_back(event(LogEventKind::kCompletionError, 0, trainer));
  first.timeouts.emplace_back().at = trainer;
  first.communicators.push_back(communicator(0, 0, 2));
  first.communicators.back().started_at = trainer;
  first.first = first.last = trainer;
  joiner.add(std::move(first), 0);
  model::Log second;
  second.origins.emplace_back();
  second.events.push_back(event(LogEventKind::kLinkDown, 0, {LogClock::kUtc, ns("2026-01-01T08:00:00Z")}));
  second.events.push_back(event(LogEventKind::kXid, 0, {LogClock::kUptime, 7}));
  joiner.add(std::move(second), 1);
  return joiner.finish({{"a", "log", {}}, {"b", "log", {}}}, hints);
}

constexpr std::int64_t kTwoHours = 7'200'000'000'000;

TEST(LogZone, TimesWithoutOneBecomeUtcOnlyWhereSomebodyGaveIt) {
  const model::LogTime local{LogClock::kLocal, ns("2026-01-01T10:00:01Z")};
  const model::Log unknown = times_with({}, local);
  EXPECT_EQ(unknown.events[0].first.clock, LogClock::kLocal);
  EXPECT_EQ(unknown.events[0].first.ns, local.ns);

  const model::Log given = times_with({.year = {}, .zone_ns = kTwoHours}, local);
  for (const model::LogTime& time : {given.events[0].first, given.events[0].last, given.timeouts[0].at,
                                     given.communicators[0].started_at, given.first, given.last}) {
    EXPECT_EQ(time.clock, LogClock::kUtc);
    EXPECT_EQ(time.ns, ns("2026-01-01T08:00:01Z"));
  }
  EXPECT_EQ(given.events[1].first.ns, ns("2026-01-01T08:00:00Z")) << "a zone that is stated stays";
  EXPECT_EQ(given.events[2].first.clock, LogClock::kUptime);
  EXPECT_EQ(given.events[2].first.ns, 7);
  EXPECT_EQ(given.communicators[0].last_at.clock, LogClock::kNone);

  const model::Log west = times_with({.year = {}, .zone_ns = -kTwoHours}, local);
  EXPECT_EQ(west.events[0].first.ns, ns("2026-01-01T12:00:01Z"));
}

TEST(LogZone, ComesAfterTheYearAlsoOnNewYearsNight) {
  const model::LogTime night = without_year("1972-01-01T00:30:00Z");
  const model::Log near = times_with({.year = {}, .zone_ns = kTwoHours}, night);
  EXPECT_EQ(near.events[0].first.clock, LogClock::kUtc);
  EXPECT_EQ(near.events[0].first.ns, ns("2025-12-31T22:30:00Z"));
  const model::Log given = times_with({.year = 2024, .zone_ns = kTwoHours}, night);
  EXPECT_EQ(given.events[0].first.ns, ns("2023-12-31T22:30:00Z"));
}

TEST(LogZone, ADateWithoutYearStaysOpen) {
  LogJoin joiner;
  model::Log log;
  log.origins.emplace_back();
  log.events.push_back(event(LogEventKind::kXid, 0, without_year("1972-05-15T23:09:27Z")));
  joiner.add(std::move(log), 0);
  const model::LogTime time =
      joiner.finish({{"a", "log", {}}}, {.year = {}, .zone_ns = kTwoHours}).events[0].first;
  EXPECT_EQ(time.clock, LogClock::kLocalNoYear);
  EXPECT_EQ(time.ns, ns("1972-05-15T23:09:27Z"));
}

TEST(LogZone, ATimeAtTheEndOfWhatCanBeCountedStaysLocal) {
  const model::Log log = times_with({.year = {}, .zone_ns = -kTwoHours}, {LogClock::kLocal, INT64_MAX});
  EXPECT_EQ(log.events[0].first.clock, LogClock::kLocal);
  EXPECT_EQ(log.events[0].first.ns, INT64_MAX);
}

TEST(LogJoin, OneWriterInTwoFilesIsOneWriter) {
  LogJoin joiner;
  for (model::InputIndex input = 0; input < 2; ++input) {
    model::Log log;
    log.lines = 10;
    log.recognised = 4;
    if (input == 1) log.origins.push_back({.host = "node9", .pid = 9, .label = {}});
    log.origins.push_back({.host = "node1", .pid = 42, .label = {}});
    const auto own = static_cast<std::uint32_t>(log.origins.size() - 1);
    log.events.push_back(event(LogEventKind::kXid, own));
    log.communicators.push_back(communicator(own, 3, 8));
    log.calls.push_back({.communicator = 0, .op_count = input, .kind = "AllReduce"});
    joiner.add(std::move(log), input);
  }
  const model::Log log = joiner.finish({{"a", "log", {}}, {"b", "log", {}}}, {});
  ASSERT_EQ(log.origins.size(), 2u);
  ASSERT_EQ(log.events.size(), 2u);
  EXPECT_EQ(log.events[0].origin, log.events[1].origin);
  EXPECT_EQ(log.origins[log.events[1].origin].host, "node1");
  EXPECT_EQ(log.events[1].input, 1u);
  EXPECT_EQ(log.calls[1].communicator, 1u);
  EXPECT_EQ(log.lines, 20u);
  EXPECT_EQ(log.recognised, 8u);
}

TEST(LogRanks, ComeFromTheLargestCommunicatorOfTheProcess) {
  model::Log log;
  log.origins = {{.host = "node1", .pid = 10, .cuda_device = 0, .label = {}},
                 {.host = "node1", .pid = 11, .cuda_device = 0, .label = {}},
                 {.host = "node2", .pid = 10, .cuda_device = 0, .label = {}},
                 {.host = "node3", .pid = 99, .label = {}}};
  log.communicators = {communicator(0, 0, 8), communicator(1, 1, 8), communicator(2, 4, 8),
                       communicator(1, 0, 2)};
  give_ranks(log);
  EXPECT_EQ(log.origins[0].global_rank, 0);
  EXPECT_EQ(log.origins[1].global_rank, 1) << "not its rank in the small communicator";
  EXPECT_EQ(log.origins[2].global_rank, 4) << "the same pid on another host is another process";
  EXPECT_EQ(log.origins[3].global_rank, -1);
}

TEST(LogRanks, OfAProcessWithSeveralDevicesFollowTheDevice) {
  model::Log log;
  log.origins = {{.host = "node1", .pid = 10, .cuda_device = 0, .label = {}},
                 {.host = "node1", .pid = 10, .cuda_device = 1, .label = {}}};
  log.communicators = {communicator(0, 0, 2), communicator(1, 1, 2)};
  log.communicators[0].cuda_device = 0;
  log.communicators[1].cuda_device = 1;
  give_ranks(log);
  EXPECT_EQ(log.origins[0].global_rank, 0);
  EXPECT_EQ(log.origins[1].global_rank, 1);
}

TEST(LogRanks, OnlyTheDefaultGroupTellsAGlobalRank) {
  model::Log log;
  log.origins = {{.host = "a", .pid = 1, .label = {}}, {.host = "a", .pid = 2, .label = {}}};
  model::WatchdogTimeout world;
  world.origin = 0;
  world.group_rank = 5;
  world.group = "0";
  world.group_description = "default_pg";
  model::WatchdogTimeout tensor = world;
  tensor.origin = 1;
  tensor.group = "9";
  tensor.group_description = "TENSOR_MODEL_PARALLEL_GROUP";
  log.timeouts = {world, tensor};
  give_ranks(log);
  EXPECT_EQ(log.origins[0].global_rank, 5);
  EXPECT_EQ(log.origins[1].global_rank, -1);
}

TEST(LogRanks, AFileNamesItsOnlyWriter) {
  const auto named = [](const char* path, std::int64_t second_pid) {
    model::Log log;
    log.origins = {{.host = "a", .pid = 1, .label = {}}, {.host = "a", .pid = second_pid, .label = {}}};
    name_origins_by_file(path, log);
    return log.origins[0].global_rank;
  };
  EXPECT_EQ(named("logs/rank_3.log", 1), 3);
  EXPECT_EQ(named("logs/attempt_0/Rank12/x.log", 1), -1) << "only the name of the file itself";
  EXPECT_EQ(named("logs/stdout.rank07.txt", 1), 7);
  EXPECT_EQ(named("logs/app-2026.log", 1), -1);
  EXPECT_EQ(named("logs/franking.log", 1), -1);
  EXPECT_EQ(named("logs/rank_3.log", 2), -1) << "two processes cannot both be rank 3";
}

TEST(LogRanks, ATagOnTheLineWinsOverTheFile) {
  model::Log log;
  log.origins = {{.host = "a", .pid = 1, .global_rank = 6, .label = {}}};
  name_origins_by_file("rank_3.log", log);
  give_ranks(log);
  EXPECT_EQ(log.origins[0].global_rank, 6);
}

}  // namespace
}  // namespace unhang::join
