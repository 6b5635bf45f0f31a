// SPDX-License-Identifier: Apache-2.0
#include "report/log_warning_rows.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace unhang::report {
namespace {

using model::LogEvent;
using model::LogEventKind;
using model::LogTime;
using model::WatchdogTimeout;

// Times compare only on one clock; any time is better than none.
bool earlier(const LogTime& a, const LogTime& b) {
  return a.known() && (!b.known() || (a.clock == b.clock && a.ns < b.ns));
}
bool later(const LogTime& a, const LogTime& b) {
  return a.known() && (!b.known() || (a.clock == b.clock && a.ns > b.ns));
}

// Clocks one after the other: an order must hold for any three rows.
template <class Record>
auto place_of(const LogTime& first, const Record& record) {
  return std::tuple(first.known() ? static_cast<int>(first.clock) : INT32_MAX, first.ns, record.input,
                    record.line);
}

// LogEvent::rank is a mark of severity there.
bool rank_is_severity(LogEventKind kind) {
  return kind == LogEventKind::kXid || kind == LogEventKind::kSxid;
}

std::int32_t rank_of(const model::Log& log, const LogEvent& event) {
  if (event.rank >= 0 && !rank_is_severity(event.kind)) return event.rank;
  return log.origins[event.origin].global_rank;
}

void sort_unique(std::vector<std::int32_t>& ranks) {
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
}

std::vector<LogWarning> gather_rows(const model::Log& log) {
  using Key = std::tuple<std::string_view, LogEventKind, std::int64_t, std::string_view, std::string_view,
                         std::string_view>;
  std::map<Key, std::size_t> known;
  std::vector<LogWarning> rows;
  for (const LogEvent& event : log.events) {
    const model::LogRole role = model::role_of(event.kind);
    if (role == model::LogRole::kNormal) continue;
    const std::string& host = log.origins[event.origin].host;
    const auto [at, is_new] = known.try_emplace(
        {host, event.kind, event.code, event.subject, peer_without_port(event.peer), event.detail},
        rows.size());
    if (is_new) {
      rows.push_back({.role = role, .event = &event, .host = host, .first = event.first, .last = event.last});
    }
    LogWarning& row = rows[at->second];
    row.count += event.count;
    if (earlier(event.first, row.first)) {
      row.event = &event;
      row.first = event.first;
    }
    if (later(event.last, row.last)) row.last = event.last;
    if (const std::int32_t rank = rank_of(log, event); rank >= 0) row.ranks.push_back(rank);
  }
  for (LogWarning& row : rows) sort_unique(row.ranks);
  std::sort(rows.begin(), rows.end(), [](const LogWarning& a, const LogWarning& b) {
    if (a.role != b.role) return a.role > b.role;
    return place_of(a.first, *a.event) < place_of(b.first, *b.event);
  });
  return rows;
}

// "tp (9)": description and name across ranks; a count of the process only where neither is printed.
std::string group_words(const WatchdogTimeout& timeout) {
  if (timeout.group.empty() && timeout.group_description.empty())
    return timeout.group_id.empty() ? "" : "group " + timeout.group_id;
  if (timeout.group_description.empty()) return "group " + timeout.group;
  if (timeout.group.empty()) return timeout.group_description;
  return timeout.group_description + " (" + timeout.group + ")";
}

using Work = std::pair<std::string_view, std::int64_t>;  // operation and sequence

// Of work that lines place in one group only, that group: other lines of it that name none are of it, too.
std::map<Work, std::string> groups_of_work(const model::Log& log) {
  std::map<Work, std::string> groups;
  std::set<Work> several;
  for (const WatchdogTimeout& timeout : log.timeouts) {
    std::string group = group_words(timeout);
    if (group.empty()) continue;
    const Work work{timeout.operation, timeout.sequence};
    const auto [at, is_new] = groups.try_emplace(work, group);
    if (!is_new && at->second != group) several.insert(work);
  }
  for (const Work& work : several) groups.erase(work);
  return groups;
}

// One row while it is put together. Sets of reporters: by global rank, by rank in the group, by writer.
struct Reporters {
  std::set<std::int32_t> global, of_group;
  std::set<std::uint32_t> unnamed;
  std::set<std::string> hosts;
};

std::vector<LogTimeout> gather_timeouts(const model::Log& log) {
  const std::map<Work, std::string> groups = groups_of_work(log);
  std::map<std::tuple<std::string, std::string_view, std::int64_t>, std::size_t> known;
  std::vector<LogTimeout> rows;
  std::vector<Reporters> reporters;
  for (const WatchdogTimeout& timeout : log.timeouts) {
    std::string group = group_words(timeout);
    if (group.empty()) {
      if (const auto only = groups.find({timeout.operation, timeout.sequence}); only != groups.end())
        group = only->second;
    }
    const auto [at, is_new] = known.try_emplace({group, timeout.operation, timeout.sequence}, rows.size());
    if (is_new) {
      rows.push_back(
          {.timeout = &timeout, .group = std::move(group), .first = timeout.at, .last = timeout.at});
      reporters.emplace_back();
    }
    LogTimeout& row = rows[at->second];
    if (earlier(timeout.at, row.first)) {
      row.timeout = &timeout;
      row.first = timeout.at;
    }
    if (later(timeout.at, row.last)) row.last = timeout.at;
    row.collapsed += timeout.collapsed;
    const model::LogOrigin& origin = log.origins[timeout.origin];
    Reporters& who = reporters[at->second];
    if (timeout.group_rank >= 0) who.of_group.insert(timeout.group_rank);
    if (origin.global_rank >= 0) who.global.insert(origin.global_rank);
    if (timeout.group_rank < 0 && origin.global_rank < 0) who.unnamed.insert(timeout.origin);
    if (!origin.host.empty()) who.hosts.insert(origin.host);
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Reporters& who = reporters[i];
    rows[i].ranks_of_group = who.global.size() < who.of_group.size();
    const auto& ranks = rows[i].ranks_of_group ? who.of_group : who.global;
    rows[i].ranks.assign(ranks.begin(), ranks.end());
    rows[i].reporters = ranks.size() + who.unnamed.size();
    rows[i].hosts.assign(who.hosts.begin(), who.hosts.end());
  }
  std::sort(rows.begin(), rows.end(), [](const LogTimeout& a, const LogTimeout& b) {
    return place_of(a.first, *a.timeout) < place_of(b.first, *b.timeout);
  });
  return rows;
}

}  // namespace

std::string_view peer_without_port(std::string_view peer) {
  return peer.ends_with('>') ? peer.substr(0, peer.rfind('<')) : peer;
}

LogWarnings gather_log_warnings(const model::Case& joined) {
  return {gather_rows(joined.logs), gather_timeouts(joined.logs)};
}

}  // namespace unhang::report
