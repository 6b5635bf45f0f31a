// SPDX-License-Identifier: Apache-2.0
//
// Ranks that wait for each other in a circle, with nobody outside to blame: two groups entered in opposite
// order, or transfers whose ends both wait for the other to receive.
#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>

#include "detect/detector.h"
#include "detect/stall_place.h"
#include "detect/wording.h"

namespace unhang::detect {
namespace {

using model::RankIndex;
using Place = std::pair<model::GroupIndex, std::int64_t>;  // a collective: group and sequence

class CycleFinder {
 public:
  explicit CycleFinder(const Analysis& analysis) : x_analysis(analysis), x_case(analysis.joined) {}

  std::vector<Explanation> find() {
    auto explained = x_analysis.waits.roots();
    const auto silent = x_analysis.waits.silent();
    explained.insert(explained.end(), silent.begin(), silent.end());
    for (RankIndex rank = 0; rank < x_case.ranks.size(); ++rank) {
      if (x_analysis.waits.ranks[rank].device_stopped) explained.push_back(rank);
    }
    const auto left = x_analysis.waits.not_explained_by(explained);
    if (left.empty()) return {};
    x_core.insert(left.begin(), left.end());
    trim();
    collect_stalls();
    if (x_stalls.empty()) return {};
    Explanation explanation;
    explanation.category = model::Category::kCollectiveDesync;
    explanation.strength = model::Confidence::kHigh;
    explain(explanation);
    for (const std::size_t index : x_stalls)
      explanation.evidence.push_back(place_of(x_analysis, x_analysis.waits.stalls[index]));
    explanation.rules_out.push_back("transport: none of these operations has all its members");
    return {std::move(explanation)};
  }

 private:
  bool in_core(const std::vector<RankIndex>& ranks) const {
    return std::any_of(ranks.begin(), ranks.end(), [&](RankIndex rank) { return x_core.count(rank) != 0; });
  }

  bool waits_inside(RankIndex rank) const {
    const auto& waits = x_analysis.waits.ranks[rank].waits_in;
    return std::any_of(waits.begin(), waits.end(),
                       [&](std::size_t stall) { return in_core(x_analysis.waits.stalls[stall].absent); });
  }

  bool waited_for_inside(RankIndex rank) const {
    const auto& waits = x_analysis.waits.ranks[rank].absent_in;
    return std::any_of(waits.begin(), waits.end(),
                       [&](std::size_t stall) { return in_core(x_analysis.waits.stalls[stall].waiting); });
  }

  // Leaves the ranks of the circles: those that both wait and are waited for inside.
  void trim() {
    for (bool again = true; again;) {
      again = false;
      for (auto at = x_core.begin(); at != x_core.end();) {
        if (waits_inside(*at) && waited_for_inside(*at)) {
          ++at;
        } else {
          at = x_core.erase(at);
          again = true;
        }
      }
    }
  }

  void collect_stalls() {
    for (std::size_t i = 0; i < x_analysis.waits.stalls.size(); ++i) {
      const Stall& stall = x_analysis.waits.stalls[i];
      if (in_core(stall.waiting) && in_core(stall.absent)) x_stalls.push_back(i);
    }
  }

  std::string text_of(const Stall& stall) const {
    const OperationRef at = place_of(x_analysis, stall);
    return operation_text(x_case, x_case.ranks[at.rank].operations[at.operation]);
  }

  void explain(Explanation& explanation) {
    const auto is_transfer = [&](std::size_t index) {
      return x_analysis.waits.stalls[index].transfer.has_value();
    };
    const auto transfers =
        static_cast<std::size_t>(std::count_if(x_stalls.begin(), x_stalls.end(), is_transfer));
    if (transfers == x_stalls.size()) {
      explain_deadlock(explanation);
    } else if (transfers == 0) {
      explain_inversion(explanation);
    } else {
      explain_mixed(*std::find_if(x_stalls.begin(), x_stalls.end(), is_transfer), explanation);
    }
  }

  void explain_deadlock(Explanation& explanation) {
    explanation.cause = "p2p_deadlock";
    explanation.culprits.assign(x_core.begin(), x_core.end());
    explanation.at = place_of(x_analysis, x_analysis.waits.stalls[x_stalls.front()]);
    explanation.headline = ranks_text(x_case, explanation.culprits) +
                           " wait for each other in a circle of transfers: " +
                           text_of(x_analysis.waits.stalls[x_stalls.front()]) + " has no other end posted";
    for (const RankIndex rank : explanation.culprits) {
      const Stall& stall = x_analysis.waits.stalls[x_analysis.waits.ranks[rank].waits_in.front()];
      explanation.why.push_back("waits in " + text_of(stall) + " for " + ranks_text(x_case, stall.absent));
    }
  }

  // The side that fewer ranks are on is the one that went another way.
  void explain_inversion(Explanation& explanation) {
    std::map<Place, std::vector<RankIndex>> sides;
    for (const std::size_t index : x_stalls) {
      const Stall& stall = x_analysis.waits.stalls[index];
      for (const RankIndex rank : stall.waiting) {
        if (x_core.count(rank) != 0) sides[{stall.group, stall.sequence}].push_back(rank);
      }
    }
    const auto smaller = [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); };
    const auto [fewest, most] = std::minmax_element(sides.begin(), sides.end(), smaller);
    Place wrong = fewest->first;
    bool tie = false;
    if (fewest->second.size() == most->second.size()) {
      explanation.strength = model::Confidence::kMedium;
      const auto deviating = deviating_side(sides);
      tie = !deviating.has_value();
      wrong = deviating.value_or(wrong);
    }
    if (many_unseen()) explanation.strength = model::Confidence::kLow;
    std::set<RankIndex> culprits;
    for (const auto& [place, ranks] : sides) {
      if (place == wrong || tie || (ranks.size() == sides[wrong].size() && sides.size() > 2)) {
        culprits.insert(ranks.begin(), ranks.end());
      }
    }
    explanation.cause = "order_inversion";
    explanation.culprits.assign(culprits.begin(), culprits.end());
    const Stall* minority = nullptr;
    const Stall* majority = nullptr;
    for (const std::size_t index : x_stalls) {
      const Stall& stall = x_analysis.waits.stalls[index];
      if (Place{stall.group, stall.sequence} == wrong && minority == nullptr)
        minority = &stall;
      else if (majority == nullptr || stall.waiting.size() > majority->waiting.size())
        majority = &stall;
    }
    if (majority == nullptr) majority = minority;
    explanation.at = place_of(x_analysis, *majority);
    explanation.headline = ranks_text(x_case, minority->waiting) +
                           plural(minority->waiting.size(), " waits in ", " wait in ") + text_of(*minority) +
                           " while " + ranks_text(x_case, majority->waiting) +
                           plural(majority->waiting.size(), " waits in ", " wait in ") + text_of(*majority) +
                           ": the groups were entered in opposite order" +
                           (tie ? " (a tie: either order can be the wrong one)" : "");
    for (std::size_t i = 0; i < explanation.culprits.size(); ++i) {
      explanation.why.push_back("entered the groups in another order than the others");
    }
  }

  // Of a group most of whose dumps are missing nobody knows on which side its members are.
  bool many_unseen() const {
    return std::any_of(x_stalls.begin(), x_stalls.end(), [&](std::size_t index) {
      const Stall& stall = x_analysis.waits.stalls[index];
      const auto& members = x_case.groups[stall.group].members;
      const auto unseen = std::count_if(members.begin(), members.end(),
                                        [&](RankIndex rank) { return !x_case.ranks[rank].tail_known; });
      return unseen > 0 && static_cast<std::size_t>(unseen) >= stall.waiting.size();
    });
  }

  // The circle alone does not tell who went the other way. The ranks outside of it do: they made the same two
  // calls, one of them perhaps in a sibling group (the same description, other members), in the usual order.
  std::optional<Place> deviating_side(const std::map<Place, std::vector<RankIndex>>& sides) const {
    if (sides.size() != 2) return std::nullopt;
    const Place a = sides.begin()->first;
    const Place b = std::next(sides.begin())->first;
    std::size_t a_first = 0;
    std::size_t b_first = 0;
    for (RankIndex rank = 0; rank < x_case.ranks.size(); ++rank) {
      if (x_core.count(rank) != 0) continue;
      const auto in_a = call_at(rank, a);
      const auto in_b = call_at(rank, b);
      if (in_a && (!in_b || *in_a < *in_b))
        ++a_first;
      else if (in_b)
        ++b_first;
    }
    if (a_first == b_first) return std::nullopt;
    return a_first > b_first ? b : a;  // who stands in the second has not made the first
  }

  // Where in its list a rank made that call, in the group itself or a sibling of it.
  std::optional<std::uint32_t> call_at(RankIndex index, const Place& place) const {
    const model::Group& wanted = x_case.groups[place.first];
    const model::Rank& rank = x_case.ranks[index];
    for (const model::Lane& lane : rank.lanes) {
      const model::Group& group = x_case.groups[lane.group];
      const bool sibling = wanted.description != 0 && group.description == wanted.description &&
                           group.backend == wanted.backend;
      if (lane.group != place.first && !sibling) continue;
      for (const std::uint32_t operation : lane.collectives) {
        if (rank.operations[operation].collective_sequence == place.second) return operation;
      }
    }
    return std::nullopt;
  }

  // A transfer whose peer is already in a collective that needs the sender.
  void explain_mixed(std::size_t index, Explanation& explanation) {
    const Stall& stall = x_analysis.waits.stalls[index];
    const PendingTransfer& transfer = x_analysis.transfers[*stall.transfer];
    explanation.cause = "p2p_unmatched";
    // Where dumps are missing the circle may close through somebody who is not seen.
    const bool all_seen = std::all_of(x_case.ranks.begin(), x_case.ranks.end(),
                                      [](const model::Rank& rank) { return rank.tail_known; });
    explanation.strength = all_seen ? model::Confidence::kMedium : model::Confidence::kLow;
    explanation.culprits = {transfer.rank, transfer.peer};
    explanation.is_pair = true;
    explanation.at = place_of(x_analysis, stall);
    const std::string peer = "rank " + std::to_string(x_case.ranks[transfer.peer].global_rank);
    const auto& waits = x_analysis.waits.ranks[transfer.peer].waits_in;
    explanation.headline =
        ranks_text(x_case, {transfer.rank}) + " waits in " + text_of(stall) + ", whose other end " + peer +
        " never posted" +
        (waits.empty() ? std::string()
                       : ": it went on to " + text_of(x_analysis.waits.stalls[waits.front()]));
    explanation.why.push_back("one of the two left the agreed order; the transfer has only one end");
    explanation.alternatives.push_back(
        {.category = model::Category::kCollectiveDesync,
         .cause = "order_inversion",
         .speaks_for = {"the transfer and the collective may just be called in another order"},
         .speaks_against = {},
         .decide_by = "compare the user code of both ranks (-v shows the lines)"});
  }

  const Analysis& x_analysis;
  const model::Case& x_case;
  std::set<RankIndex> x_core;
  std::vector<std::size_t> x_stalls;
};

}  // namespace

std::vector<Explanation> find_wait_cycle(const Analysis& analysis) {
  return CycleFinder(analysis).find();
}

}  // namespace unhang::detect
