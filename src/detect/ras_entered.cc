// SPDX-License-Identifier: Apache-2.0
#include "detect/ras_entered.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <string>

namespace unhang::detect {
namespace {

using model::RasPresence;
using model::RasRank;

// The counter that an operation moves; null: RAS counts none of it (send, all-to-all), or it is not known. A
// coalesced block is named after what is in it, and a barrier is an all-reduce to NCCL.
std::optional<model::RasCollective> counter_of(model::OpKind kind, std::string name) {
  using model::OpKind;
  using model::RasCollective;
  switch (kind) {
    case OpKind::kAllReduce:
    case OpKind::kBarrier:
      return RasCollective::kAllReduce;
    case OpKind::kAllGather:
      return RasCollective::kAllGather;
    case OpKind::kReduceScatter:
      return RasCollective::kReduceScatter;
    case OpKind::kBroadcast:
      return RasCollective::kBroadcast;
    case OpKind::kReduce:
      return RasCollective::kReduce;
    default:
      break;
  }
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
  std::erase(name, '_');
  if (name.find("allgather") != std::string::npos) return RasCollective::kAllGather;
  if (name.find("reducescatter") != std::string::npos) return RasCollective::kReduceScatter;
  if (name.find("allreduce") != std::string::npos) return RasCollective::kAllReduce;
  if (name.find("broadcast") != std::string::npos) return RasCollective::kBroadcast;
  return {};
}

bool holds(const std::vector<std::int32_t>& ascending, std::int32_t rank) {
  return std::binary_search(ascending.begin(), ascending.end(), rank);
}

// The counter of the collective that the ranks of a stall wait in.
std::optional<model::RasCollective> counter_of(const model::Case& joined, const Stall& stall) {
  for (const model::RankIndex index : stall.waiting) {
    const model::Rank& rank = joined.ranks[index];
    const model::Lane* lane = rank.lane(stall.group);
    if (lane == nullptr) continue;
    for (auto at = lane->collectives.rbegin(); at != lane->collectives.rend(); ++at) {
      const model::Operation& op = rank.operations[*at];
      if (op.collective_sequence < stall.sequence) break;
      if (op.collective_sequence != stall.sequence) continue;
      const model::Signature& signature = joined.signature(op);
      return counter_of(signature.kind, std::string(joined.text(signature.name)));
    }
  }
  return {};
}

class EnteredByRas {
 public:
  EnteredByRas(const RasAnalysis& ras, const model::Case& joined) : x_ras(ras), x_case(joined) {}

  // Of several communicators with the same members any that uses the counter may be the one that is meant:
  // all of these have to agree. One that nobody counts in (graph replays) shows nothing.
  bool entered(const Stall& stall, model::RasCollective counter, model::RankIndex index) const {
    bool any = false;
    for (const RasCommunicatorState& state : x_ras.communicators) {
      if (std::find(state.groups.begin(), state.groups.end(), stall.group) == state.groups.end()) continue;
      if (!counts(state, counter)) continue;
      if (!agrees(state, x_case.ranks[index].global_rank)) return false;
      any = true;
    }
    return any;
  }

 private:
  static bool counts(const RasCommunicatorState& state, model::RasCollective counter) {
    const auto& ranks = state.communicator->ranks;
    return std::any_of(ranks.begin(), ranks.end(), [&](const RasRank& rank) {
      return rank.counts[static_cast<std::size_t>(counter)].value_or(0) > 0;
    });
  }

  static bool agrees(const RasCommunicatorState& state, std::int32_t global_rank) {
    const auto& ranks = state.communicator->ranks;
    const auto own = std::find_if(ranks.begin(), ranks.end(),
                                  [&](const RasRank& rank) { return rank.global_rank == global_rank; });
    return own != ranks.end() && own->presence == RasPresence::kAnswered && !state.moving &&
           !state.skew.tie && !holds(state.skew.laggards, own->rank) &&
           !holds(state.skew.other_operation, own->rank);
  }

  const RasAnalysis& x_ras;
  const model::Case& x_case;
};

}  // namespace

void complete_by_ras(const RasAnalysis& ras, const model::Case& joined, WaitGraph& graph) {
  if (!ras.asked()) return;
  const EnteredByRas by_ras(ras, joined);
  bool changed = false;
  for (Stall& stall : graph.stalls) {
    if (stall.transfer || stall.unknown.empty()) continue;
    const auto counter = counter_of(joined, stall);
    if (!counter) continue;
    const auto entered =
        std::stable_partition(stall.unknown.begin(), stall.unknown.end(),
                              [&](model::RankIndex rank) { return !by_ras.entered(stall, *counter, rank); });
    stall.counted.assign(entered, stall.unknown.end());
    stall.unknown.erase(entered, stall.unknown.end());
    changed = changed || !stall.counted.empty();
  }
  if (changed) graph.link();
}

bool awaited_uncounted(const model::Case& joined, const WaitGraph& graph, model::RankIndex rank) {
  const auto& unknown_in = graph.ranks[rank].unknown_in;
  return std::any_of(unknown_in.begin(), unknown_in.end(), [&](std::size_t index) {
    const Stall& stall = graph.stalls[index];
    return stall.transfer || !counter_of(joined, stall);
  });
}

}  // namespace unhang::detect
