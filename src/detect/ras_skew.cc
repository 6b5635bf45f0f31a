// SPDX-License-Identifier: Apache-2.0
//
// Who is behind and who is ahead at one moment. The majority says what is usual, not the highest or lowest
// count: two ranks that run ahead must not make thirty look late.
#include <algorithm>
#include <map>
#include <set>

#include "detect/ras_progress.h"

namespace unhang::detect {
namespace {

using model::RasCollective;
using model::RasCommunicator;
using model::RasPresence;
using model::RasRank;
using model::RasStatus;

// A rank that is being set up or torn down has no place in the comparison.
bool counts_matter(const RasRank& rank) {
  return rank.presence == RasPresence::kAnswered &&
         (rank.status == RasStatus::kRunning || rank.status == RasStatus::kUnknown);
}

struct Crowd {
  std::uint64_t ranks = 0;
  std::vector<std::int32_t> named;
};

// How many ranks have which count: from the ranks themselves, else from what a text says of unnamed ones.
std::map<std::uint64_t, Crowd> crowds_of(const RasCommunicator& communicator, RasCollective collective) {
  std::map<std::uint64_t, Crowd> crowds;
  bool any_rank = false;
  for (const RasRank& rank : communicator.ranks) {
    const auto& count = rank.counts[static_cast<std::size_t>(collective)];
    if (!count || !counts_matter(rank)) continue;
    any_rank = true;
    Crowd& crowd = crowds[*count];
    ++crowd.ranks;
    crowd.named.push_back(rank.rank);
  }
  for (const model::RasShare& share : communicator.shares) {
    if (share.collective != collective) continue;
    Crowd& crowd = crowds[share.count];
    if (any_rank && crowd.ranks >= share.ranks) continue;
    crowd.ranks = std::max<std::uint64_t>(crowd.ranks, share.ranks);
  }
  return crowds;
}

RasCountSkew skew_of(RasCollective collective, const std::map<std::uint64_t, Crowd>& crowds) {
  RasCountSkew skew;
  skew.collective = collective;
  skew.least = crowds.begin()->first;
  skew.most = crowds.rbegin()->first;
  std::uint64_t largest = 0;
  for (const auto& [count, crowd] : crowds) {  // ascending: of a tie the highest count stays
    if (crowd.ranks > largest) {
      skew.tie = false;
    } else if (crowd.ranks == largest) {
      skew.tie = true;
    } else {
      continue;
    }
    largest = crowd.ranks;
    skew.majority = count;
  }
  for (const auto& [count, crowd] : crowds) {
    if (count == skew.majority) continue;
    auto& ranks = count < skew.majority ? skew.laggards : skew.leaders;
    ranks.insert(ranks.end(), crowd.named.begin(), crowd.named.end());
    (count < skew.majority ? skew.unnamed_laggards : skew.unnamed_leaders) +=
        static_cast<std::uint32_t>(crowd.ranks - crowd.named.size());
  }
  std::sort(skew.laggards.begin(), skew.laggards.end());
  std::sort(skew.leaders.begin(), skew.leaders.end());
  return skew;
}

}  // namespace

RasSkew skew_of(const RasCommunicator& communicator) {
  RasSkew out;
  std::set<std::int32_t> behind, ahead;
  for (std::size_t i = 0; i < model::kRasCollectives; ++i) {
    const auto collective = static_cast<RasCollective>(i);
    const auto crowds = crowds_of(communicator, collective);
    if (crowds.size() < 2) continue;
    RasCountSkew skew = skew_of(collective, crowds);
    behind.insert(skew.laggards.begin(), skew.laggards.end());
    ahead.insert(skew.leaders.begin(), skew.leaders.end());
    out.tie = out.tie || skew.tie;
    out.counts.push_back(std::move(skew));
  }
  for (const std::int32_t rank : behind) {
    (ahead.count(rank) != 0 ? out.other_operation : out.laggards).push_back(rank);
  }
  for (const std::int32_t rank : ahead) {
    if (behind.count(rank) == 0) out.leaders.push_back(rank);
  }
  return out;
}

}  // namespace unhang::detect
