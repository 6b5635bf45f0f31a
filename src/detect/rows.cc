// SPDX-License-Identifier: Apache-2.0
#include "detect/rows.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

namespace unhang::detect {

std::vector<Cell> row_of(const model::Case& joined, CallKeys& keys, model::GroupIndex group,
                         std::int64_t sequence) {
  std::vector<Cell> row;
  for (const model::RankIndex index : joined.groups[group].members) {
    const model::Rank& rank = joined.ranks[index];
    const model::Lane* lane = rank.lane(group);
    if (lane == nullptr) continue;
    const auto at = std::lower_bound(lane->collectives.begin(), lane->collectives.end(), sequence,
                                     [&](std::uint32_t operation, std::int64_t wanted) {
                                       return rank.operations[operation].collective_sequence < wanted;
                                     });
    if (at == lane->collectives.end() || rank.operations[*at].collective_sequence != sequence) continue;
    row.push_back({index, *at, keys.key(rank, *at)});
  }
  return row;
}

Majority majority_of(const std::vector<Cell>& row) {
  std::map<std::uint32_t, std::size_t> votes;
  for (const Cell& cell : row) ++votes[cell.key];
  Majority out;
  for (const auto& [key, count] : votes) {
    if (count > out.count) {
      out = {key, count, false};
    } else if (count == out.count) {
      out.tied = true;
    }
  }
  return out;
}

std::vector<std::int64_t> differing_rows(const model::Case& joined, CallKeys& keys, model::GroupIndex group) {
  // The first call seen at a place stands for the row; whether all agree does not depend on which one that
  // is.
  std::unordered_map<std::int64_t, std::uint32_t> sparse;
  std::vector<std::uint32_t> dense;  // key + 1
  std::int64_t first = 0;
  std::int64_t last = -1;
  std::size_t total = 0;
  for (const model::RankIndex index : joined.groups[group].members) {
    const model::Lane* lane = joined.ranks[index].lane(group);
    if (lane == nullptr || lane->collectives.empty()) continue;
    const auto& operations = joined.ranks[index].operations;
    const std::int64_t from = operations[lane->collectives.front()].collective_sequence;
    const std::int64_t to = operations[lane->collectives.back()].collective_sequence;
    first = total == 0 ? from : std::min(first, from);
    last = total == 0 ? to : std::max(last, to);
    total += lane->collectives.size();
  }
  if (total == 0) return {};
  const bool is_dense =
      static_cast<std::uint64_t>(last) - static_cast<std::uint64_t>(first) < 8 * total + 1024;
  if (is_dense) dense.resize(static_cast<std::size_t>(last - first) + 1, 0);
  std::set<std::int64_t> differing;
  for (const model::RankIndex index : joined.groups[group].members) {
    const model::Rank& rank = joined.ranks[index];
    const model::Lane* lane = rank.lane(group);
    if (lane == nullptr) continue;
    for (const std::uint32_t operation : lane->collectives) {
      const std::int64_t sequence = rank.operations[operation].collective_sequence;
      const std::uint32_t key = keys.key(rank, operation) + 1;
      std::uint32_t& known = is_dense ? dense[static_cast<std::size_t>(sequence - first)] : sparse[sequence];
      if (known == 0) known = key;
      if (known != key) differing.insert(sequence);
    }
  }
  return {differing.begin(), differing.end()};
}

}  // namespace unhang::detect
