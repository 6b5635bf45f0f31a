// SPDX-License-Identifier: Apache-2.0
#include "join/logs.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "join/log_ranks.h"

namespace unhang::join {
namespace {

using model::LogClock;
using model::LogTime;

constexpr std::int64_t kDay = 86'400'000'000'000;
constexpr std::int64_t kYear1972 = 730 * kDay;  // 1970 and 1971 had 365 days each

// Days since 1970 of 1 January, Gregorian calendar.
std::int64_t first_day(std::int64_t year) {
  const std::int64_t y = year - 1;
  return 365 * (year - 1970) + (y / 4 - 1969 / 4) - (y / 100 - 1969 / 100) + (y / 400 - 1969 / 400);
}

bool is_leap(std::int64_t year) {
  return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

std::int64_t in_year(std::int64_t ns, std::int64_t year) {
  std::int64_t since = ns - kYear1972;
  // 1972 has a 29 February that most years don't.
  if (!is_leap(year) && since >= 60 * kDay) since -= kDay;
  return first_day(year) * kDay + since;
}

std::int64_t year_of(std::int64_t ns) {
  std::int64_t year = 1970 + ns / (365 * kDay + kDay / 4);
  while (first_day(year) * kDay > ns) --year;
  while (first_day(year + 1) * kDay <= ns) ++year;
  return year;
}

template <typename Visit>
void each_time(model::Log& log, const Visit& visit) {
  for (auto& event : log.events) {
    visit(event.first);
    visit(event.last);
  }
  for (auto& timeout : log.timeouts) visit(timeout.at);
  for (auto& communicator : log.communicators) {
    visit(communicator.started_at);
    visit(communicator.completed_at);
    visit(communicator.last_at);
  }
  visit(log.first);
  visit(log.last);
}

// The newest full date of the log: what a date without year is near to.
std::optional<std::int64_t> newest_date(model::Log& log) {
  std::optional<std::int64_t> newest;
  each_time(log, [&](LogTime& time) {
    if (time.clock == LogClock::kUtc || time.clock == LogClock::kLocal)
      newest = std::max(newest.value_or(time.ns), time.ns);
  });
  return newest;
}

// Whether some date had none, and got one.
bool give_year(model::Log& log, std::optional<std::int64_t> near_ns, std::optional<std::int32_t> year) {
  if (!near_ns && !year) return false;
  bool given = false;
  each_time(log, [&](LogTime& time) {
    if (time.clock != LogClock::kLocalNoYear) return;
    time.ns = year ? in_year(time.ns, *year) : with_year(time.ns, *near_ns);
    time.clock = LogClock::kLocal;
    given = true;
  });
  return given;
}

// A date whose year nobody knows stays as it is: it is no time since 1970.
void give_zone(model::Log& log, std::optional<std::int64_t> zone_ns) {
  if (!zone_ns) return;
  each_time(log, [&](LogTime& time) {
    std::int64_t utc = 0;
    if (time.clock != LogClock::kLocal || __builtin_sub_overflow(time.ns, *zone_ns, &utc)) return;
    time = {LogClock::kUtc, utc};
  });
}

template <typename Record>
void take_over(std::vector<Record>& from, std::vector<Record>& to, model::InputIndex input) {
  for (Record& record : from) {
    record.input = input;
    to.push_back(std::move(record));
  }
}

}  // namespace

std::int64_t with_year(std::int64_t ns, std::int64_t near_ns) {
  const std::int64_t year = year_of(std::max<std::int64_t>(near_ns, 0));
  std::int64_t best = in_year(ns, year);
  for (const std::int64_t other : {year - 1, year + 1}) {
    const std::int64_t candidate = in_year(ns, other);
    if (std::abs(candidate - near_ns) < std::abs(best - near_ns)) best = candidate;
  }
  return best;
}

void LogJoin::add(model::Log log, model::InputIndex input) {
  x_pieces.push_back({std::move(log), input});
}

void LogJoin::drop(model::InputIndex input) {
  std::erase_if(x_pieces, [&](const Piece& piece) { return piece.input == input; });
}

std::set<std::string, std::less<>> LogJoin::hosts() const {
  std::set<std::string, std::less<>> out;
  for (const Piece& piece : x_pieces) {
    for (const model::LogOrigin& origin : piece.log.origins) {
      if (!origin.host.empty()) out.insert(origin.host);
    }
  }
  return out;
}

std::vector<model::InputIndex> LogJoin::without_host() const {
  std::vector<model::InputIndex> out;
  for (const Piece& piece : x_pieces) {
    const auto& origins = piece.log.origins;
    if (std::all_of(origins.begin(), origins.end(), [](const auto& origin) { return origin.host.empty(); }))
      out.push_back(piece.input);
  }
  return out;
}

void LogJoin::name_host(model::InputIndex input, const std::string& host) {
  if (host.empty()) return;
  for (Piece& piece : x_pieces) {
    if (piece.input != input) continue;
    for (model::LogOrigin& origin : piece.log.origins) origin.host = host;
  }
}

model::Log LogJoin::finish(const std::vector<model::Input>& inputs, const LogHints& hints,
                           std::optional<std::int32_t> world) {
  model::Log out;
  std::optional<std::int64_t> newest_of_all;
  for (Piece& piece : x_pieces) {
    if (const auto newest = newest_date(piece.log))
      newest_of_all = std::max(newest_of_all.value_or(*newest), *newest);
  }
  std::map<std::tuple<std::string, std::int64_t, std::int32_t, std::int32_t, std::int32_t, std::string>,
           std::uint32_t>
      known;
  out.runs = 0;
  for (Piece& piece : x_pieces) {
    model::Log& log = piece.log;
    const auto own = newest_date(log);
    if (give_year(log, own ? own : newest_of_all, hints.year) && !hints.year) {
      x_assumptions.push_back({piece.input, std::string("no year: nearest to the full dates of ") +
                                                (own ? "the same log" : "another log")});
    }
    give_zone(log, hints.zone_ns);
    name_origins_by_file(inputs[piece.input].path, log);
    std::vector<std::uint32_t> origin_of(log.origins.size());
    for (std::size_t i = 0; i < log.origins.size(); ++i) {
      const model::LogOrigin& o = log.origins[i];
      const auto [it, is_new] =
          known.emplace(std::tuple(o.host, o.pid, o.global_rank, o.local_rank, o.cuda_device, o.label),
                        static_cast<std::uint32_t>(out.origins.size()));
      if (is_new) out.origins.push_back(o);
      origin_of[i] = it->second;
    }
    const auto first_communicator = static_cast<std::uint32_t>(out.communicators.size());
    const auto move_origin = [&](auto& records) {
      for (auto& record : records) record.origin = origin_of.empty() ? 0 : origin_of[record.origin];
    };
    move_origin(log.events);
    move_origin(log.communicators);
    move_origin(log.timeouts);
    for (auto& call : log.calls) call.communicator += first_communicator;
    take_over(log.events, out.events, piece.input);
    take_over(log.communicators, out.communicators, piece.input);
    take_over(log.timeouts, out.timeouts, piece.input);
    take_over(log.topologies, out.topologies, piece.input);
    take_over(log.peer_tables, out.peer_tables, piece.input);
    take_over(log.gpus, out.gpus, piece.input);
    take_over(log.bandwidth_runs, out.bandwidth_runs, piece.input);
    std::move(log.calls.begin(), log.calls.end(), std::back_inserter(out.calls));
    if (out.nccl_version.empty()) out.nccl_version = log.nccl_version;
    out.lines += log.lines;
    out.recognised += log.recognised;
    out.nccl_lines += log.nccl_lines;
    out.forgotten += log.forgotten;
    out.runs = std::max(out.runs, log.runs);
    if (!out.first.known()) out.first = log.first;
    if (log.last.known()) out.last = log.last;
    if (!log.last_text.empty()) {
      out.last_text = log.last_text;
      out.last_origin = origin_of.empty() ? 0 : origin_of[log.last_origin];
    }
  }
  x_pieces.clear();
  give_ranks(out, world);
  return out;
}

}  // namespace unhang::join
