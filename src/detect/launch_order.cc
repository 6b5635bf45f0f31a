// SPDX-License-Identifier: Apache-2.0
//
// Operations of two groups that all members launched, in an order that is not the same on all: without
// blocking calls nothing shows but silence, and NCCL can deadlock on the device. Looked for only where
// everyone entered everything.
#include <algorithm>
#include <map>
#include <set>

#include "detect/detector.h"
#include "detect/wording.h"

namespace unhang::detect {
namespace {

using model::GroupIndex;
using model::RankIndex;

struct Head {
  GroupIndex group = 0;
  std::uint32_t operation = 0;
};

// The oldest open collectives of each rank, where everyone has entered, in the order in which the rank
// launched them.
std::map<RankIndex, std::vector<Head>> open_heads(const Analysis& analysis) {
  std::map<RankIndex, std::vector<Head>> out;
  for (const Stall& stall : analysis.waits.stalls) {
    if (stall.transfer || !stall.everyone_entered()) continue;
    for (const MemberProgress& member : analysis.groups[stall.group].members) {
      if (!member.head) continue;
      const auto& op = analysis.joined.ranks[member.rank].operations[*member.head];
      if (op.collective_sequence == stall.sequence) out[member.rank].push_back({stall.group, *member.head});
    }
  }
  for (auto& [rank, heads] : out) {
    std::sort(heads.begin(), heads.end(),
              [](const Head& a, const Head& b) { return a.operation < b.operation; });
  }
  return out;
}

struct Orders {
  std::vector<RankIndex> forward;  // launched the group with the smaller index first
  std::vector<RankIndex> backward;
};

}  // namespace

std::vector<Explanation> find_launch_order(const Analysis& analysis) {
  const model::Case& joined = analysis.joined;
  const auto heads = open_heads(analysis);
  // Only neighbours are compared: that keeps it linear, and an inversion shows between neighbours on some
  // rank.
  std::set<std::pair<GroupIndex, GroupIndex>> pairs;
  for (const auto& [rank, list] : heads) {
    for (std::size_t i = 1; i < list.size(); ++i) pairs.insert(std::minmax(list[i - 1].group, list[i].group));
  }
  std::map<std::pair<GroupIndex, GroupIndex>, Orders> orders;
  for (const auto& [rank, list] : heads) {
    std::map<GroupIndex, std::uint32_t> at;
    for (const Head& head : list) at[head.group] = head.operation;
    for (const auto& pair : pairs) {
      const auto a = at.find(pair.first);
      const auto b = at.find(pair.second);
      if (a == at.end() || b == at.end()) continue;
      auto& side = a->second < b->second ? orders[pair].forward : orders[pair].backward;
      side.push_back(rank);
    }
  }
  for (const auto& [pair, order] : orders) {
    if (order.forward.empty() || order.backward.empty()) continue;
    const bool tie = order.forward.size() == order.backward.size();
    const auto& minority = order.forward.size() < order.backward.size() ? order.forward : order.backward;
    const auto& majority = order.forward.size() < order.backward.size() ? order.backward : order.forward;
    Explanation explanation;
    explanation.category = model::Category::kCollectiveDesync;
    explanation.cause = "order_inversion";
    const bool certain = members_certain(joined, pair.first) && members_certain(joined, pair.second);
    explanation.strength = tie || !certain ? model::Confidence::kLow : model::Confidence::kMedium;
    explanation.culprits = minority;
    if (tie) explanation.culprits.insert(explanation.culprits.end(), majority.begin(), majority.end());
    std::sort(explanation.culprits.begin(), explanation.culprits.end());
    for (const Head& head : heads.at(minority.front())) {
      if (head.group == pair.first || head.group == pair.second)
        explanation.evidence.push_back({minority.front(), head.operation});
    }
    for (const Head& head : heads.at(majority.front())) {
      if (head.group == pair.first || head.group == pair.second)
        explanation.evidence.push_back({majority.front(), head.operation});
    }
    explanation.at = explanation.evidence.back();
    explanation.headline = ranks_text(joined, minority) + " launched the open operations of " +
                           joined.group_label(pair.first) + " and " + joined.group_label(pair.second) +
                           " in the opposite order of " + ranks_text(joined, majority) +
                           (tie ? ": a tie, either order can be the wrong one" : "");
    explanation.why.push_back(
        "launched the two groups' operations in another order than the others; on the device each can wait "
        "for the other");
    explanation.alternatives.push_back({.category = model::Category::kTransportStall,
                                        .cause = "unknown",
                                        .speaks_for = {"everyone entered and nobody finished"},
                                        .speaks_against = {"the launch orders differ"},
                                        .decide_by = "NCCL_LAUNCH_ORDER_IMPLICIT=1 (a workaround) or one "
                                                     "order in the program: does the hang go away?"});
    return {std::move(explanation)};
  }
  return {};
}

}  // namespace unhang::detect
