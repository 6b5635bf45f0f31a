// SPDX-License-Identifier: Apache-2.0
#include "detect/ras_naming.h"

#include <algorithm>

#include "base/rank_set.h"
#include "detect/wording.h"

namespace unhang::detect {

void cite_place(const model::Case& joined, const RasAnalysis& ras, const RasCommunicatorState& state,
                std::string text, Explanation& explanation) {
  explanation.records.push_back(cite_communicator(joined, ras, *state.communicator, std::move(text)));
  model::Where where;
  where.group = state.label;
  explanation.where = std::move(where);
}

std::vector<Explanation> weak_is_tentative(std::vector<Explanation> found) {
  for (Explanation& explanation : found)
    explanation.tentative = explanation.strength == model::Confidence::kLow;
  return found;
}

std::size_t ranks_with_status(const model::RasCommunicator& communicator, model::RasStatus status) {
  std::size_t count = 0;
  for (const model::RasShare& share : communicator.shares) {
    if (!share.collective && share.status == status) count += share.ranks;
  }
  return count;
}

void RasNames::add(const RasCommunicatorState& state, std::int32_t number, const std::string& why) {
  const model::RasRank* known = find_rank(*state.communicator, number);
  model::RasRank rank;
  rank.rank = number;
  if (known != nullptr) rank = *known;
  if (const auto index = case_rank(x_case, rank)) {
    x_ranks.emplace(*index, why);
    return;
  }
  // One process may be in several communicators: by its pid it is named once.
  const Key key =
      rank.pid >= 0 ? Key("", rank.cuda_device, rank.host, rank.pid) : Key(state.label, number, "", -1);
  if (!x_known.insert(key).second) return;
  x_others.push_back(subject_in_communicator(state, rank, why));
}

void RasNames::make_culprits(Explanation& explanation) const {
  for (const auto& [index, why] : x_ranks) {
    explanation.culprits.push_back(index);
    explanation.why.push_back(why);
  }
  explanation.other_culprits = x_others;
}

void RasNames::make_suspects(Explanation& explanation) const {
  for (const auto& entry : x_ranks) explanation.suspects.push_back(entry.first);
  explanation.other_suspects = x_others;
}

std::string RasNames::text() const {
  std::vector<model::RankIndex> indices;
  for (const auto& entry : x_ranks) indices.push_back(entry.first);
  std::string out = indices.empty() ? std::string() : ranks_text(x_case, indices);
  std::map<std::string, std::vector<std::int32_t>> by_group;
  for (const model::Subject& other : x_others) by_group[other.group].push_back(other.group_rank.value_or(-1));
  constexpr std::size_t kGroupsAtMost = 3;
  std::size_t shown = 0;
  for (auto& [group, ranks] : by_group) {
    if (shown++ == kGroupsAtMost) {
      out += " and others of " + std::to_string(by_group.size() - kGroupsAtMost) + " more";
      break;
    }
    std::sort(ranks.begin(), ranks.end());
    if (!out.empty()) out += ", ";
    out += ranks_text(ranks) + " of " + group;
  }
  return out;
}

std::string ranks_text(const std::vector<std::int32_t>& ranks) {
  return (ranks.size() == 1 ? "rank " : "ranks ") + base::fold_ranks(ranks);
}

}  // namespace unhang::detect
