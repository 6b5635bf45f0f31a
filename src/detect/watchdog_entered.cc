// SPDX-License-Identifier: Apache-2.0
#include "detect/watchdog_entered.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace unhang::detect {
namespace {

using model::RankIndex;

// What the watchdog of each rank gave up on: group and sequence.
using GivenUp = std::map<std::int32_t, std::set<std::pair<std::string_view, std::int64_t>>>;

GivenUp given_up(const LogAnalysis& logs) {
  GivenUp out;
  for (const model::WatchdogTimeout* timeout : logs.timeouts) {
    const std::int32_t rank = logs.origin(timeout->origin).global_rank;
    if (rank >= 0) out[rank].emplace(timeout->group, timeout->sequence);
  }
  return out;
}

}  // namespace

void complete_by_watchdogs(const LogAnalysis& logs, const model::Case& joined, WaitGraph& graph) {
  if (!logs.present() || logs.timeouts.empty()) return;
  const GivenUp waits = given_up(logs);
  bool changed = false;
  for (Stall& stall : graph.stalls) {
    if (stall.transfer || stall.unknown.empty()) continue;
    const std::string_view group = joined.text(joined.groups[stall.group].name);
    const auto entered =
        std::stable_partition(stall.unknown.begin(), stall.unknown.end(), [&](RankIndex rank) {
          const auto own = waits.find(joined.ranks[rank].global_rank);
          return own == waits.end() || group.empty() || own->second.count({group, stall.sequence}) == 0;
        });
    if (entered == stall.unknown.end()) continue;
    stall.counted.insert(stall.counted.end(), entered, stall.unknown.end());
    std::sort(stall.counted.begin(), stall.counted.end());
    stall.unknown.erase(entered, stall.unknown.end());
    changed = true;
  }
  if (changed) graph.link();
  for (RankIndex rank = 0; rank < graph.ranks.size(); ++rank) {
    const bool gave_up = waits.count(joined.ranks[rank].global_rank) != 0;
    graph.ranks[rank].counted = graph.ranks[rank].counted || gave_up;
  }
}

}  // namespace unhang::detect
