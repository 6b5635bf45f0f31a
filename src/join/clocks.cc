// SPDX-License-Identifier: Apache-2.0
#include "join/clocks.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "base/robust.h"
#include "join/host_offsets.h"
#include "model/host_aliases.h"

namespace unhang::join {
namespace {

using model::LogClock;
using model::Operation;
using model::OpKind;

// More ranks of one host tell the same clock again.
constexpr std::size_t kRanksOfHost = 4;
// The latest of each rank in each group: clocks drift, and now is what counts.
constexpr std::size_t kOperationsOfLane = 1024;
// A difference of local times by more than this is one of zones.
constexpr std::int64_t kHalfQuarter = 450'000'000'000;

// Nobody leaves these before everybody has come.
bool waits_for_everybody(OpKind kind) {
  switch (kind) {
    case OpKind::kAllReduce:
    case OpKind::kAllGather:
    case OpKind::kReduceScatter:
    case OpKind::kAllToAll:
    case OpKind::kBarrier:
      return true;
    default:
      return false;
  }
}

using Ends = std::vector<std::pair<std::int64_t, std::int64_t>>;  // collective_sequence, time

void add_ends(const model::Case& joined, const model::Rank& rank, const model::Lane& lane, Ends& ends) {
  const std::size_t skip = lane.collectives.size() - std::min(lane.collectives.size(), kOperationsOfLane);
  for (std::size_t i = skip; i < lane.collectives.size(); ++i) {
    const Operation& op = rank.operations[lane.collectives[i]];
    if (op.completed_ns > 0 && op.collective_sequence >= 0 && op.has(Operation::kFinished) &&
        waits_for_everybody(joined.signature(op).kind))
      ends.emplace_back(op.collective_sequence, op.completed_ns);
  }
}

// One time for each operation: the median of the host's ranks.
Ends of_host(Ends ends) {
  std::sort(ends.begin(), ends.end());
  Ends out;
  for (std::size_t i = 0; i < ends.size();) {
    std::size_t last = i;
    while (last + 1 < ends.size() && ends[last + 1].first == ends[i].first) ++last;
    out.push_back(ends[i + (last - i) / 2]);
    i = last + 1;
  }
  return out;
}

void compare(std::string_view a, const Ends& ends_a, std::string_view b, const Ends& ends_b,
             HostOffsets& offsets) {
  HostOffsets::Moments moments;
  auto at = ends_b.begin();
  for (const auto& [sequence, time] : ends_a) {
    while (at != ends_b.end() && at->first < sequence) ++at;
    if (at == ends_b.end()) break;
    if (at->first == sequence) moments.emplace_back(time, at->second);
  }
  offsets.add(ClockWitness::kCollective, a, b, moments);
}

// Each host of a group is compared with the one of them that finished most: a star, as many pairs as hosts.
void compare_group(const model::Case& joined, model::GroupIndex group, const model::HostAliases& names,
                   HostOffsets& offsets) {
  struct Host {
    std::size_t ranks = 0;
    Ends ends;
  };
  std::map<std::string_view, Host> hosts;
  for (const model::RankIndex index : joined.groups[group].members) {
    const model::Rank& rank = joined.ranks[index];
    const model::Lane* lane = rank.host.empty() ? nullptr : rank.lane(group);
    if (lane == nullptr || lane->collectives.empty()) continue;
    Host& host = hosts[names.name_for(rank.host)];
    if (host.ranks++ < kRanksOfHost) add_ends(joined, rank, *lane, host.ends);
  }
  if (hosts.size() < 2) return;
  for (auto& [name, host] : hosts) host.ends = of_host(std::move(host.ends));
  const auto most = std::max_element(hosts.begin(), hosts.end(), [](const auto& x, const auto& y) {
    const std::size_t of_x = x.second.ends.size();
    const std::size_t of_y = y.second.ends.size();
    return of_x != of_y ? of_x < of_y : x.first > y.first;
  });
  for (const auto& [name, host] : hosts) {
    if (name != most->first) compare(most->first, most->second.ends, name, host.ends, offsets);
  }
}

// A communicator's making ends with a step that all its ranks take together.
void compare_communicators(const model::Case& joined, const model::HostAliases& names, HostOffsets& offsets) {
  struct Times {
    std::vector<std::int64_t> utc, local;
  };
  std::map<std::uint64_t, std::map<std::string_view, Times>> by_id;
  for (const model::LogCommunicator& made : joined.logs.communicators) {
    const std::string& host = joined.logs.origins[made.origin].host;
    if (!made.id || !made.completed || host.empty()) continue;
    Times& times = by_id[*made.id][names.name_for(host)];
    if (made.completed_at.clock == LogClock::kUtc) times.utc.push_back(made.completed_at.ns);
    if (made.completed_at.clock == LogClock::kLocal) times.local.push_back(made.completed_at.ns);
  }
  for (const auto& [id, hosts] : by_id) {
    const auto& [first, reference] = *hosts.begin();
    for (const auto& [name, times] : hosts) {
      if (name == first) continue;
      if (!reference.utc.empty() && !times.utc.empty()) {
        offsets.add(ClockWitness::kCommunicator, first, name,
                    {{base::median(reference.utc), base::median(times.utc)}});
      } else if (!reference.local.empty() && !times.local.empty()) {
        const std::int64_t a = base::median(reference.local);
        const std::int64_t b = base::median(times.local);
        std::int64_t difference = 0;
        if (!__builtin_sub_overflow(b, a, &difference) && difference < kHalfQuarter &&
            difference > -kHalfQuarter)
          offsets.add(ClockWitness::kCommunicator, first, name, {{a, b}});
      }
    }
  }
}

}  // namespace

void estimate_clocks(model::Case& joined) {
  const model::HostAliases names(joined.hosts);
  HostOffsets offsets;
  for (const model::Rank& rank : joined.ranks) {
    if (rank.input) offsets.add_host(names.name_for(rank.host));
  }
  for (model::GroupIndex group = 0; group < joined.groups.size(); ++group)
    compare_group(joined, group, names, offsets);
  compare_communicators(joined, names, offsets);
  joined.clocks = offsets.estimate();
}

}  // namespace unhang::join
