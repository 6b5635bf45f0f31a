// SPDX-License-Identifier: Apache-2.0
#include "detect/rank_clock.h"

#include <map>
#include <string_view>
#include <utility>

#include "base/robust.h"

namespace unhang::detect {

namespace {

using model::Operation;
using model::RankIndex;

constexpr std::size_t kLatest = 64;  // collectives of a rank that are looked at
constexpr std::size_t kFewest = 6;   // that two ranks must have in common
// A completion is noticed at the watchdog's next look: 100 ms, and late on a busy host.
constexpr std::int64_t kNoise = 500'000'000;
constexpr std::int64_t kNoClock = std::int64_t{1} << 62;

using Completions = std::map<std::int64_t, std::int64_t>;  // by sequence

Completions latest_completions(const model::Rank& rank, model::GroupIndex group) {
  Completions out;
  const model::Lane* lane = rank.lane(group);
  if (lane == nullptr) return out;
  for (auto at = lane->collectives.rbegin(); at != lane->collectives.rend() && out.size() < kLatest; ++at) {
    const Operation& op = rank.operations[*at];
    if (op.has(Operation::kFinished) && op.completed_ns > 0 && op.completed_ns < kNoClock)
      out.emplace(op.collective_sequence, op.completed_ns);
  }
  return out;
}

model::GroupIndex largest_group(const model::Case& joined) {
  model::GroupIndex largest = 0;
  for (model::GroupIndex group = 1; group < joined.groups.size(); ++group) {
    if (joined.groups[group].members.size() > joined.groups[largest].members.size()) largest = group;
  }
  return largest;
}

// Of those without a host, against the first of them that finished enough.
void compare_nameless(const model::Case& joined, std::vector<std::int64_t>& offsets) {
  if (joined.groups.empty()) return;
  const model::GroupIndex group = largest_group(joined);
  Completions reference;
  for (const RankIndex index : joined.groups[group].members) {
    if (!joined.ranks[index].host.empty()) continue;
    Completions own = latest_completions(joined.ranks[index], group);
    if (reference.empty()) {
      if (own.size() >= kFewest) reference = std::move(own);
      continue;
    }
    std::vector<std::int64_t> differences;
    for (const auto& [sequence, time] : own) {
      if (const auto same = reference.find(sequence); same != reference.end())
        differences.push_back(time - same->second);
    }
    if (differences.size() < kFewest) continue;
    const std::int64_t difference = base::median(std::move(differences));
    if (difference > kNoise || difference < -kNoise) offsets[index] = difference;
  }
}

}  // namespace

RankClock::RankClock(const model::Case& joined) : x_offsets(joined.ranks.size(), 0) {
  std::map<std::string_view, std::int64_t> offsets;
  for (const model::HostClock& clock : joined.clocks) {
    if (clock.known) offsets.emplace(clock.host, clock.offset_ns);
  }
  compare_nameless(joined, x_offsets);
  if (offsets.empty()) return;
  for (std::size_t i = 0; i < joined.ranks.size(); ++i) {
    const auto at = offsets.find(joined.ranks[i].host);
    if (at != offsets.end()) x_offsets[i] = at->second;
  }
}

}  // namespace unhang::detect
