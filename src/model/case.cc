// SPDX-License-Identifier: Apache-2.0
#include "model/case.h"

#include <algorithm>
#include <utility>

namespace unhang::model {

const Lane* Rank::lane(GroupIndex group) const {
  const auto at = std::lower_bound(lanes.begin(), lanes.end(), group,
                                   [](const Lane& lane, GroupIndex wanted) { return lane.group < wanted; });
  return at != lanes.end() && at->group == group ? &*at : nullptr;
}

std::optional<RankIndex> Case::find_rank(std::int32_t global_rank) const {
  // Mostly all ranks of a job are there, in order.
  if (global_rank >= 0 && std::cmp_less(global_rank, ranks.size()) &&
      ranks[static_cast<std::size_t>(global_rank)].global_rank == global_rank)
    return static_cast<RankIndex>(global_rank);
  const auto at =
      std::lower_bound(ranks.begin(), ranks.end(), global_rank,
                       [](const Rank& rank, std::int32_t wanted) { return rank.global_rank < wanted; });
  if (at == ranks.end() || at->global_rank != global_rank) return std::nullopt;
  return static_cast<RankIndex>(at - ranks.begin());
}

std::vector<std::int32_t> Case::global_ranks(const std::vector<RankIndex>& indices) const {
  std::vector<std::int32_t> out;
  out.reserve(indices.size());
  for (const RankIndex index : indices) out.push_back(ranks[index].global_rank);
  std::sort(out.begin(), out.end());
  return out;
}

std::string Case::group_label(GroupIndex index) const {
  const Group& group = groups[index];
  const std::string_view name = text(group.name);
  const std::string_view description = text(group.description);
  if (description.empty() || description == "undefined" || description == name) {
    return "group " + std::string(name.empty() ? "(unnamed)" : name);
  }
  return std::string(description) + " (" + std::string(name) + ")";
}

}  // namespace unhang::model
