// SPDX-License-Identifier: Apache-2.0
#include "join/log_zones.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time_text.h"
#include "join/logs.h"

namespace unhang::join {
namespace {

using model::InputIndex;
using model::LogClock;
using model::LogTime;

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kQuarter = 900 * kSecond;
// The watchdog speaks a little after the limit, and lines have whole seconds.
constexpr std::int64_t kBeside = 120 * kSecond;
constexpr std::int64_t kWestmost = -12 * 3'600 * kSecond;
constexpr std::int64_t kEastmost = 14 * 3'600 * kSecond;
constexpr std::int64_t kYear2200 = 7'258'118'400 * kSecond;

bool is_date(std::int64_t ns) {
  return ns > 0 && ns < kYear2200;
}

// What the local time shows more than UTC, as a zone; nullopt: no zone is like that.
std::optional<std::int64_t> zone_between(std::int64_t local_ns, std::int64_t utc_ns) {
  if (!is_date(local_ns) || !is_date(utc_ns)) return {};
  const std::int64_t difference = local_ns - utc_ns;
  const std::int64_t half = difference < 0 ? -kQuarter / 2 : kQuarter / 2;
  const std::int64_t zone = (difference + half) / kQuarter * kQuarter;
  if (zone < kWestmost || zone > kEastmost || std::abs(difference - zone) > kBeside) return {};
  return zone;
}

std::string zone_text(std::int64_t zone_ns) {
  const std::int64_t minutes = std::abs(zone_ns) / (60 * kSecond);
  const auto two = [](std::int64_t number) { return (number < 10 ? "0" : "") + std::to_string(number); };
  return (zone_ns < 0 ? "-" : "+") + two(minutes / 60) + ":" + two(minutes % 60);
}

template <typename Visit>
void each_time(model::Log& log, const Visit& visit) {
  for (auto& event : log.events) {
    visit(event.input, event.first);
    visit(event.input, event.last);
  }
  for (auto& timeout : log.timeouts) visit(timeout.input, timeout.at);
  for (auto& communicator : log.communicators) {
    visit(communicator.input, communicator.started_at);
    visit(communicator.input, communicator.completed_at);
    visit(communicator.input, communicator.last_at);
  }
}

// How often each zone fits, by input, and what tells it.
struct Votes {
  std::map<std::int64_t, std::size_t> zones;
  std::size_t of_watchdog = 0;

  // The one that nearly all agree on.
  std::optional<std::int64_t> decided() const {
    std::size_t all = 0;
    const std::pair<const std::int64_t, std::size_t>* best = nullptr;
    for (const auto& vote : zones) {
      all += vote.second;
      if (best == nullptr || vote.second > best->second) best = &vote;
    }
    if (best == nullptr || best->second * 10 < all * 8) return {};
    return best->first;
  }
};

// The recorded call that a time-out tells of.
const model::Operation* recorded(const model::Case& joined, const model::WatchdogTimeout& timeout) {
  const std::int32_t global = joined.logs.origins[timeout.origin].global_rank;
  const auto index = global >= 0 ? joined.find_rank(global) : std::nullopt;
  if (!index || timeout.sequence < 0) return nullptr;
  const model::Rank& rank = joined.ranks[*index];
  const model::Operation* found = nullptr;
  for (const model::Lane& lane : rank.lanes) {
    const model::Group& group = joined.groups[lane.group];
    const bool named = !timeout.group.empty() || !timeout.group_description.empty();
    const bool same = timeout.group.empty()
                          ? !named || joined.text(group.description) == timeout.group_description
                          : joined.text(group.name) == timeout.group;
    if (!same) continue;
    const auto at =
        std::partition_point(lane.collectives.begin(), lane.collectives.end(), [&](std::uint32_t operation) {
          return rank.operations[operation].collective_sequence < timeout.sequence;
        });
    if (at == lane.collectives.end() || rank.operations[*at].collective_sequence != timeout.sequence)
      continue;
    if (found != nullptr) return nullptr;  // nobody says which of the groups
    found = &rank.operations[*at];
  }
  return found;
}

void vote_by_watchdog(const model::Case& joined, std::map<InputIndex, Votes>& votes) {
  for (const model::WatchdogTimeout& timeout : joined.logs.timeouts) {
    if (timeout.at.clock != LogClock::kLocal) continue;
    const model::Operation* op = recorded(joined, timeout);
    if (op == nullptr || !is_date(op->created_ns)) continue;
    const std::int64_t ran_ms = timeout.ran_ms >= 0 ? timeout.ran_ms : timeout.timeout_ms;
    constexpr std::int64_t kMonth = 30ll * 86'400'000;
    if (ran_ms < 0 || ran_ms > kMonth) continue;
    if (const auto zone = zone_between(timeout.at.ns, op->created_ns + ran_ms * 1'000'000)) {
      Votes& of_input = votes[timeout.input];
      ++of_input.zones[*zone];
      ++of_input.of_watchdog;
    }
  }
}

void vote_by_communicators(const model::Case& joined, std::map<InputIndex, Votes>& votes) {
  std::map<std::uint64_t, std::int64_t> complete;  // in UTC, the first that tells it
  for (const auto& made : joined.logs.communicators) {
    if (made.id && made.completed && made.completed_at.clock == LogClock::kUtc) {
      const auto [at, is_new] = complete.emplace(*made.id, made.completed_at.ns);
      if (!is_new) at->second = std::min(at->second, made.completed_at.ns);
    }
  }
  for (const auto& made : joined.logs.communicators) {
    if (!made.id || !made.completed || made.completed_at.clock != LogClock::kLocal) continue;
    const auto at = complete.find(*made.id);
    if (at == complete.end()) continue;
    if (const auto zone = zone_between(made.completed_at.ns, at->second)) ++votes[made.input].zones[*zone];
  }
}

// Dates without a year stand near the newest time that dumps or bundles show.
void give_years(model::Case& joined) {
  std::int64_t dumped = 0;
  std::int64_t captured = 0;
  for (const model::Rank& rank : joined.ranks) {
    for (const model::Operation& op : rank.operations) {
      for (const std::int64_t ns : {op.created_ns, op.completed_ns}) {
        if (is_date(ns)) dumped = std::max(dumped, ns);
      }
    }
  }
  for (const model::BundleManifest& bundle : joined.bundles) {
    if (is_date(bundle.started_ns)) captured = std::max(captured, bundle.started_ns);
  }
  const std::int64_t near = dumped > 0 ? dumped : captured;
  if (near == 0) return;
  std::map<InputIndex, std::int64_t> given;
  each_time(joined.logs, [&](InputIndex input, LogTime& time) {
    if (time.clock != LogClock::kLocalNoYear) return;
    time = {LogClock::kLocal, with_year(time.ns, near)};
    given[input] = std::max(given[input], time.ns);
  });
  for (const auto& [input, ns] : given) {
    joined.time_assumptions.push_back(
        {input, "no year: " + base::utc_text(ns).substr(0, 4) + ", as " +
                    (dumped > 0 ? "the Flight Recorder's times" : "the capture") + " show"});
  }
}

// The processes of one machine have one zone; its kernel's log may have another.
void lend_zones(model::Case& joined, const std::map<InputIndex, std::int64_t>& zones,
                std::map<InputIndex, std::pair<std::int64_t, std::string>>& lent) {
  std::map<InputIndex, std::set<std::string>> hosts;
  std::set<InputIndex> of_kernel;
  const auto note = [&](InputIndex input, std::uint32_t origin) {
    const model::LogOrigin& writer = joined.logs.origins[origin];
    if (!writer.host.empty()) hosts[input].insert(writer.host);
    if (writer.label == "kernel") of_kernel.insert(input);
  };
  for (const auto& event : joined.logs.events) note(event.input, event.origin);
  for (const auto& timeout : joined.logs.timeouts) note(timeout.input, timeout.origin);
  for (const auto& communicator : joined.logs.communicators) note(communicator.input, communicator.origin);
  std::map<std::string, std::set<std::int64_t>> of_host;
  for (const auto& [input, zone] : zones) {
    for (const std::string& host : hosts[input]) of_host[host].insert(zone);
  }
  for (const auto& [input, names] : hosts) {
    if (names.size() != 1 || zones.count(input) != 0 || of_kernel.count(input) != 0) continue;
    const auto known = of_host.find(*names.begin());
    if (known != of_host.end() && known->second.size() == 1)
      lent[input] = {*known->second.begin(), known->first};
  }
}

}  // namespace

void infer_zones(model::Case& joined) {
  give_years(joined);
  std::map<InputIndex, Votes> votes;
  vote_by_watchdog(joined, votes);
  vote_by_communicators(joined, votes);
  std::map<InputIndex, std::int64_t> zones;
  for (const auto& [input, of_input] : votes) {
    const auto zone = of_input.decided();
    if (!zone) continue;
    zones[input] = *zone;
    joined.time_assumptions.push_back(
        {input, "no zone: " + zone_text(*zone) + ", from " +
                    (of_input.of_watchdog > 0
                         ? "time-outs of the watchdog beside the Flight Recorder's times"
                         : "communicators that a log in UTC shows complete at the same moment")});
  }
  std::map<InputIndex, std::pair<std::int64_t, std::string>> lent;
  lend_zones(joined, zones, lent);
  std::set<InputIndex> borrowed;
  for (const auto& [input, zone] : lent) zones[input] = zone.first;
  std::set<InputIndex> read_as_utc;
  each_time(joined.logs, [&](InputIndex input, LogTime& time) {
    if (time.clock != LogClock::kLocal) return;
    const auto zone = zones.find(input);
    std::int64_t utc = 0;
    if (zone == zones.end() || __builtin_sub_overflow(time.ns, zone->second, &utc)) {
      read_as_utc.insert(input);
    } else {
      time = {LogClock::kUtc, utc};
      if (lent.count(input) != 0) borrowed.insert(input);
    }
  });
  for (const InputIndex input : borrowed) {
    joined.time_assumptions.push_back({input, "no zone: " + zone_text(zones[input]) + ", as other logs of " +
                                                  lent[input].second + " show"});
  }
  for (const InputIndex input : read_as_utc)
    joined.time_assumptions.push_back({input, "no zone: read as UTC"});
  for (const model::RasView& view : joined.ras.views) {
    if (!view.is_local_time || view.sources.empty()) continue;
    joined.time_assumptions.push_back({view.sources.front(), "RAS states no zone: read as UTC"});
  }
  std::stable_sort(joined.time_assumptions.begin(), joined.time_assumptions.end(),
                   [](const auto& a, const auto& b) { return a.input < b.input; });
}

}  // namespace unhang::join
