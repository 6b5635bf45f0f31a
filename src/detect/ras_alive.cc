// SPDX-License-Identifier: Apache-2.0
//
// A rank that left no dump and whose process answers RAS: it lives, and stands somewhere outside NCCL, where
// its watchdog wrote nothing. Without RAS the same rank could only be called silent.
#include <algorithm>
#include <set>

#include "detect/detector.h"
#include "detect/ras_entered.h"
#include "detect/ras_naming.h"
#include "detect/stall_place.h"
#include "detect/wording.h"

namespace unhang::detect {
namespace {

bool answers(const Analysis& analysis, model::RankIndex index) {
  const std::int32_t global = analysis.joined.ranks[index].global_rank;
  for (const RasCommunicatorState& state : analysis.ras.communicators) {
    for (const model::RasRank& rank : state.communicator->ranks) {
      if (rank.global_rank == global && (rank.presence == model::RasPresence::kAnswered ||
                                         rank.presence == model::RasPresence::kNoCommunicator))
        return true;
    }
  }
  return false;
}

// Those that are behind, and wait for nobody in another communicator, by the counts of RAS.
std::set<model::RankIndex> ranks_behind(const Analysis& analysis) {
  std::set<model::RankIndex> out;
  for (const Explanation& lag : find_ras_lag(analysis)) out.insert(lag.culprits.begin(), lag.culprits.end());
  return out;
}

}  // namespace

std::vector<Explanation> find_ras_alive(const Analysis& analysis) {
  if (!analysis.ras.asked()) return {};
  const model::Case& joined = analysis.joined;
  std::vector<model::RankIndex> alive = analysis.waits.silent();
  const std::size_t silent = alive.size();
  std::erase_if(alive, [&](model::RankIndex rank) { return !answers(analysis, rank); });
  if (alive.empty()) return {};
  const Stall* first = nullptr;
  for (const model::RankIndex rank : alive) {
    for (const std::size_t index : analysis.waits.ranks[rank].unknown_in) {
      const Stall& stall = analysis.waits.stalls[index];
      if (first == nullptr || stall.since_ns < first->since_ns) first = &stall;
    }
  }
  if (first == nullptr) return {};
  Explanation explanation;
  explanation.category = model::Category::kCollectiveDesync;
  explanation.cause = "rank_not_entered";
  explanation.root = "host_blocked";
  // Those of whom nothing at all is known may be to blame as well.
  // And a dump is missing more often than not because nobody copied it: only who is behind is not there.
  const std::set<model::RankIndex> late = ranks_behind(analysis);
  const bool behind = std::all_of(alive.begin(), alive.end(), [&](model::RankIndex rank) {
    return late.count(rank) != 0 && !awaited_uncounted(joined, analysis.waits, rank);
  });
  explanation.strength =
      alive.size() == silent && behind ? model::Confidence::kMedium : model::Confidence::kLow;
  // Most dumps missing: they were not copied, and nobody in particular can be meant.
  const bool most = alive.size() * 2 > joined.ranks.size();
  if (most) {
    explanation.category = model::Category::kInconclusive;
    explanation.cause = "unknown";
    explanation.root.clear();
    explanation.strength = model::Confidence::kLow;
  }
  (most ? explanation.suspects : explanation.culprits) = alive;
  explanation.why.push_back(
      "left no dump, and its process answers RAS: it is alive, and blocked outside NCCL");
  explanation.at = place_of(analysis, *first);
  explanation.evidence.push_back(*explanation.at);
  for (const RasCommunicatorState& state : analysis.ras.communicators) {
    if (state.communicator->hash != joined.ras.world_hash) continue;
    explanation.records.push_back(
        cite_communicator(joined, analysis.ras, *state.communicator,
                          "the processes of " + ranks_text(joined, alive) + " answer"));
  }
  explanation.headline =
      ranks_text(joined, alive) +
      plural(alive.size(), " left no dump but answers RAS", " left no dumps but answer RAS") + "; " +
      ranks_text(joined, first->waiting) + plural(first->waiting.size(), " waits", " wait") + " in " +
      operation_text(joined, joined.ranks[explanation.at->rank].operations[explanation.at->operation]);
  explanation.rules_out.push_back("a process that is gone: it answers RAS");
  explanation.alternatives.push_back({.category = model::Category::kTransportStall,
                                      .cause = "unknown",
                                      .speaks_for = {"if it entered too, its dump was just not copied"},
                                      .speaks_against = {},
                                      .decide_by = "its stack: py-spy dump --pid PID on its host"});
  return {std::move(explanation)};
}

}  // namespace unhang::detect
