// SPDX-License-Identifier: Apache-2.0
#include "detect/ras_progress.h"

#include <algorithm>
#include <tuple>

namespace unhang::detect {

using model::RasCommunicator;
using model::RasPresence;

std::string_view name_of(Movement value) {
  switch (value) {
    case Movement::kUnknown:
      return "unknown";
    case Movement::kIdle:
      return "idle";
    case Movement::kAdvancing:
      return "advancing";
    case Movement::kLagging:
      return "lagging";
    case Movement::kFrozen:
      return "frozen";
  }
  return "unknown";
}

void RasProgress::observe(const model::RasView& view, std::int64_t now_ns) {
  x_now_ns = std::max(x_now_ns, now_ns);
  for (const RasCommunicator& communicator : view.communicators) {
    const auto at = std::lower_bound(x_histories.begin(), x_histories.end(), communicator,
                                     [](const History& known, const RasCommunicator& wanted) {
                                       return std::tie(known.hash, known.secondary_hash) <
                                              std::tie(wanted.hash, wanted.secondary_hash);
                                     });
    const bool known = at != x_histories.end() && at->hash == communicator.hash &&
                       at->secondary_hash == communicator.secondary_hash;
    History& history = known ? *at : *x_histories.insert(at, History{});
    if (!known) history.first_ns = x_now_ns;
    follow(history, communicator, x_now_ns);
  }
}

void RasProgress::follow(History& history, const RasCommunicator& communicator, std::int64_t now_ns) const {
  history.hash = communicator.hash;
  history.secondary_hash = communicator.secondary_hash;
  history.size = communicator.size;
  history.skew = skew_of(communicator);
  history.ranks.reserve(communicator.ranks.size());
  history.seen_ns = now_ns;
  bool restarted = false;
  for (const model::RasRank& rank : communicator.ranks) {
    if (rank.presence != RasPresence::kAnswered) continue;
    auto at = std::lower_bound(history.ranks.begin(), history.ranks.end(), rank.rank,
                               [](const RankHistory& known, std::int32_t r) { return known.rank < r; });
    if (at == history.ranks.end() || at->rank != rank.rank) {
      at = history.ranks.insert(at, RankHistory{});
      at->rank = rank.rank;
      at->first_ns = at->moved_ns = now_ns;
      at->counts = rank.counts;
    }
    bool grown = false;
    for (std::size_t i = 0; i < model::kRasCollectives; ++i) {
      if (!rank.counts[i]) continue;
      if (at->counts[i] && *rank.counts[i] < *at->counts[i]) restarted = true;
      if (!at->counts[i] || *rank.counts[i] > *at->counts[i]) grown = grown || at->counts[i].has_value();
      at->counts[i] = rank.counts[i];
    }
    at->seen_ns = now_ns;
    if (!grown) continue;
    at->moved = true;
    at->moved_ns = now_ns;
    history.moved_ns = now_ns;
  }
  if (restarted) {  // counts never fall: it is another communicator with the same hash
    for (RankHistory& rank : history.ranks) {
      rank.first_ns = rank.moved_ns = now_ns;
      rank.moved = false;
    }
    history.first_ns = now_ns;
    history.moved_ns.reset();
    history.lag_since_ns.reset();
  }
  const std::vector<std::int32_t>& laggards = history.skew.laggards;
  const bool stands = std::none_of(laggards.begin(), laggards.end(), [&](std::int32_t r) {
    const auto at = std::lower_bound(history.ranks.begin(), history.ranks.end(), r,
                                     [](const RankHistory& known, std::int32_t x) { return known.rank < x; });
    return at != history.ranks.end() && at->rank == r && at->moved_ns == now_ns && at->moved;
  });
  if (laggards.empty()) {
    history.lag_since_ns.reset();
  } else if (laggards != history.laggards || !stands || !history.lag_since_ns) {
    history.lag_since_ns = now_ns;
  }
  history.laggards = laggards;
}

Movement RasProgress::movement_of(const History& history, const RankHistory& rank, bool behind) const {
  // A rank that is missing from the latest view, or was in one view only, says nothing.
  if (rank.seen_ns != history.seen_ns || rank.first_ns == rank.seen_ns) return Movement::kUnknown;
  if (rank.moved && rank.seen_ns - rank.moved_ns < x_frozen_after_ns)
    return behind ? Movement::kLagging : Movement::kAdvancing;
  if (rank.seen_ns - rank.moved_ns < x_frozen_after_ns) return Movement::kUnknown;
  return behind ? Movement::kFrozen : Movement::kIdle;
}

RasCommunicatorProgress RasProgress::judge(const History& history, std::optional<bool> work_in_flight) const {
  RasCommunicatorProgress out;
  out.hash = history.hash;
  out.secondary_hash = history.secondary_hash;
  out.size = history.size;
  out.skew = history.skew;
  out.watched_since_ns = history.first_ns;
  out.seen_ns = history.seen_ns;
  out.last_moved_ns = history.moved_ns;
  out.lag_since_ns = history.lag_since_ns;
  bool known = false;
  for (const RankHistory& rank : history.ranks) {
    const bool behind =
        std::binary_search(out.skew.laggards.begin(), out.skew.laggards.end(), rank.rank) ||
        std::binary_search(out.skew.other_operation.begin(), out.skew.other_operation.end(), rank.rank);
    const Movement movement = movement_of(history, rank, behind);
    known = known || movement != Movement::kUnknown;
    out.ranks.emplace_back(rank.rank, movement);
    if (movement == Movement::kFrozen) out.frozen_laggards.push_back(rank.rank);
  }
  const std::int64_t since = history.moved_ns.value_or(history.first_ns);
  const bool skewed = !out.skew.counts.empty();
  if (history.first_ns == history.seen_ns) {
    out.why = "only one answer shows it: ask again";
  } else if (history.moved_ns && history.seen_ns - since < x_frozen_after_ns) {
    out.movement = out.frozen_laggards.empty() ? Movement::kAdvancing : Movement::kLagging;
  } else if (history.seen_ns - since < x_frozen_after_ns || !known) {
    out.why = "not watched for long enough: it takes some seconds without movement";
  } else if (skewed) {
    out.movement = Movement::kFrozen;
  } else if (work_in_flight) {
    out.movement = *work_in_flight ? Movement::kFrozen : Movement::kIdle;
  } else {
    out.why =
        "counts are equal and stand still: idle, in a CUDA graph, or everybody waits in the same operation; "
        "counts cannot tell which";
  }
  // Without that second signal a standing rank is not known to be idle either.
  if (!work_in_flight && !skewed) {
    for (auto& [rank, movement] : out.ranks) {
      if (movement == Movement::kIdle) movement = Movement::kUnknown;
    }
  }
  return out;
}

std::vector<RasCommunicatorProgress> RasProgress::state(std::optional<bool> work_in_flight) const {
  std::vector<RasCommunicatorProgress> out;
  out.reserve(x_histories.size());
  for (const History& history : x_histories) out.push_back(judge(history, work_in_flight));
  return out;
}

}  // namespace unhang::detect
