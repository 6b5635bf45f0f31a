// SPDX-License-Identifier: Apache-2.0
#include "join/ras_split_brain.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace unhang::join {
namespace {

using model::RasPresence;
using model::RasView;
using Process = std::pair<std::string, std::int64_t>;

struct Heard {
  std::set<Process> answered, dead;
  // Ranks that answered, of the communicator that shows most; a text answer does not say whose they are.
  std::int64_t ranks = 0;
  bool all_named = true;
};

Heard heard_by(const RasView& view) {
  Heard out;
  for (const auto& communicator : view.communicators) {
    std::int64_t ranks = 0;
    for (const auto& rank : communicator.ranks) {
      const bool named = rank.pid >= 0 && !rank.host.empty();
      if (rank.presence == RasPresence::kAnswered) {
        ++ranks;
        out.all_named = out.all_named && named;
        if (named) out.answered.emplace(rank.host, rank.pid);
      } else if (rank.presence == RasPresence::kDead && named) {
        out.dead.emplace(rank.host, rank.pid);
      }
    }
    out.ranks = std::max(out.ranks, ranks);
  }
  for (const auto& row : view.rows) {
    if (row.communicators == 1) out.ranks = std::max(out.ranks, row.ranks);
    out.all_named = false;
  }
  for (const auto& process : view.lost_processes)
    if (process.dead) out.dead.emplace(process.host, process.pid);
  return out;
}

// `other` calls dead whoever answered in `one`, and heard more itself.
bool is_given_up(const Heard& one, const Heard& other) {
  if (one.dead.empty() || other.dead.empty() || one.ranks >= other.ranks) return false;
  const auto dead_there = [&](const Process& process) { return other.dead.count(process) != 0; };
  if (std::any_of(one.dead.begin(), one.dead.end(), dead_there)) return false;
  if (!one.all_named) return std::cmp_less_equal(one.ranks, other.dead.size());
  return !one.answered.empty() && std::all_of(one.answered.begin(), one.answered.end(), dead_there);
}

}  // namespace

void drop_given_up(RasHistory& history) {
  if (history.size() < 2) return;
  std::vector<Heard> heard;
  for (const RasView& view : history) heard.push_back(heard_by(view));
  // The fullest of those that call somebody dead; the latest of equals.
  std::size_t best = history.size();
  for (std::size_t i = 0; i < history.size(); ++i) {
    if (!heard[i].dead.empty() && (best == history.size() || heard[i].ranks >= heard[best].ranks)) best = i;
  }
  if (best == history.size()) return;
  RasHistory kept;
  std::size_t kept_best = 0;
  std::vector<std::uint32_t> sources;
  for (std::size_t i = 0; i < history.size(); ++i) {
    if (is_given_up(heard[i], heard[best])) {
      sources.insert(sources.end(), history[i].sources.begin(), history[i].sources.end());
      continue;
    }
    if (i == best) kept_best = kept.size();
    kept.push_back(std::move(history[i]));
  }
  history = std::move(kept);
  if (sources.empty()) return;
  RasView& view = history[kept_best];
  view.sources.insert(view.sources.end(), sources.begin(), sources.end());
  for (const auto& [host, pid] : heard[best].dead) view.contradicted.push_back({host, pid, {}, {}, true});
}

}  // namespace unhang::join
