// SPDX-License-Identifier: Apache-2.0
#include "detect/log_timeouts.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "detect/log_analysis.h"

namespace unhang::detect {
namespace {

using model::WatchdogTimeout;

std::string key_of(const WatchdogTimeout& timeout) {
  if (!timeout.group.empty()) return timeout.group;
  return timeout.group_id.empty() ? std::string() : "id " + timeout.group_id;
}

// Lines of one rank about one work: the one that says most stands for them.
std::tuple<std::uint32_t, std::int32_t> rank_key(const LogAnalysis& logs, const WatchdogTimeout& timeout) {
  if (timeout.group_rank >= 0) return {0, timeout.group_rank};
  const std::int32_t global = logs.origin(timeout.origin).global_rank;
  return global >= 0 ? std::tuple{1u, global} : std::tuple{2u + timeout.origin, -1};
}

bool is_world(const TimeoutGroup& group, const WatchdogTimeout& timeout) {
  return timeout.group_description == "default_pg" || group.key == "0" || group.key == "id 0";
}

}  // namespace

std::optional<std::int32_t> ranks_from_sizes(const WatchdogTimeout& timeout) {
  const std::int64_t in = timeout.elements_in;
  const std::int64_t out = timeout.elements_out;
  if (timeout.cut || in <= 0 || out <= 0) return {};
  const bool gathers = timeout.operation.find("ALLGATHER") != std::string::npos;
  const bool scatters = timeout.operation.find("REDUCE_SCATTER") != std::string::npos;
  if (!gathers && !scatters) return {};
  const std::int64_t large = gathers ? out : in;
  const std::int64_t small = gathers ? in : out;
  if (large <= small || large % small != 0 || large / small > 1 << 20) return {};
  return static_cast<std::int32_t>(large / small);
}

std::vector<TimeoutGroup> group_timeouts(const LogAnalysis& logs) {
  std::map<std::string, std::map<std::tuple<std::uint32_t, std::int32_t>, const WatchdogTimeout*>> by_group;
  std::map<std::string, std::int64_t> collapsed;
  // A line without its group belongs to the group that another line of the same work names.
  std::map<std::int64_t, std::set<std::string>> groups_at;
  for (const WatchdogTimeout* timeout : logs.timeouts) {
    if (!key_of(*timeout).empty()) groups_at[timeout->sequence].insert(key_of(*timeout));
  }
  for (const WatchdogTimeout* timeout : logs.timeouts) {
    std::string key = key_of(*timeout);
    if (key.empty() && timeout->sequence >= 0) {
      const auto at = groups_at.find(timeout->sequence);
      if (at != groups_at.end() && at->second.size() == 1) key = *at->second.begin();
    }
    const WatchdogTimeout*& slot = by_group[key][rank_key(logs, *timeout)];
    if (slot == nullptr || (slot->operation.empty() && !timeout->operation.empty())) slot = timeout;
    collapsed[key] = std::max(collapsed[key], timeout->collapsed);
  }
  std::vector<TimeoutGroup> out;
  for (auto& [key, ranks] : by_group) {
    TimeoutGroup group;
    group.key = key;
    std::set<std::int32_t> seen;
    for (const auto& [rank, timeout] : ranks) {
      group.members.push_back(timeout);
      if (timeout->group_rank >= 0) seen.insert(timeout->group_rank);
      if (!group.size) group.size = ranks_from_sizes(*timeout);
      if (group.label.empty()) group.label = timeout->group_description;
    }
    if (group.label.empty()) group.label = key.empty() ? std::string() : "group " + key;
    group.collapsed = collapsed[key];
    if (!group.size && is_world(group, *group.members.front())) {
      for (const auto& communicator : logs.joined->logs.communicators) {
        if (communicator.ranks > group.size.value_or(0)) group.size = communicator.ranks;
      }
    }
    if (group.size && !seen.empty() && *seen.rbegin() < *group.size && group.collapsed == 0 &&
        static_cast<std::int32_t>(seen.size()) * 2 > *group.size) {
      for (std::int32_t rank = 0; rank < *group.size; ++rank) {
        if (seen.count(rank) == 0) group.silent.push_back(rank);
      }
    }
    out.push_back(std::move(group));
  }
  std::stable_sort(out.begin(), out.end(), [](const TimeoutGroup& a, const TimeoutGroup& b) {
    return a.members.size() > b.members.size();
  });
  return out;
}

model::Subject subject_of_timeout(const LogAnalysis& logs, const TimeoutGroup& group,
                                  const WatchdogTimeout& timeout) {
  model::Subject subject;
  const model::LogOrigin& origin = logs.origin(timeout.origin);
  subject.host = origin.host;
  if (origin.pid >= 0) subject.pid = origin.pid;
  if (origin.global_rank >= 0) {
    subject.rank = origin.global_rank;
  } else if (timeout.group_rank >= 0 && (group.key.empty() || is_world(group, timeout))) {
    subject.rank = timeout.group_rank;  // of the whole job, for all that the lines say
  } else if (timeout.group_rank >= 0) {
    subject.group = group.label;
    subject.group_rank = timeout.group_rank;
  }
  return subject;
}

std::string rank_of_timeout(const LogAnalysis& logs, const TimeoutGroup& group,
                            const WatchdogTimeout& timeout) {
  const model::Subject subject = subject_of_timeout(logs, group, timeout);
  if (subject.rank) return "rank " + std::to_string(*subject.rank);
  if (subject.group_rank) return "rank " + std::to_string(*subject.group_rank) + " of " + group.label;
  const std::string writer = writer_text(logs, timeout.origin);
  return writer.empty() ? "a rank" : writer;
}

model::Where where_of(const TimeoutGroup& group, const WatchdogTimeout& timeout) {
  model::Where where;
  constexpr std::string_view kWord = "group ";
  where.group = group.label.starts_with(kWord) ? group.label.substr(kWord.size()) : group.label;
  where.operation = timeout.operation;
  if (timeout.sequence >= 0) where.ordinal = timeout.sequence;
  return where;
}

}  // namespace unhang::detect
