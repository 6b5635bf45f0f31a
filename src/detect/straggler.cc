// SPDX-License-Identifier: Apache-2.0
//
// A rank that arrives last again and again while everything completes. Who that is and how it is told from a
// clock or from chance: lateness.h. docs/detectors/straggler.md tells the method.
#include <algorithm>
#include <optional>

#include "base/span_text.h"
#include "detect/detector.h"
#include "detect/lateness.h"
#include "detect/wording.h"

namespace unhang::detect {
namespace {

using model::RankIndex;

constexpr std::size_t kSurelyOften = 10;  // delays from which on a persistent one is sure
constexpr double kSurelyMuch = 0.1;       // of the time, for one that is told by its steadiness

struct Candidate {
  model::GroupIndex group = 0;
  std::vector<RankIndex> ranks;  // one, or those of one host
  std::vector<std::uint32_t> operations;
  Delays delays;
  double share = 0;
  bool by_durations = false;
  bool slight = false;
};

bool some_dump_was_cut(const model::Case& joined) {
  return std::any_of(joined.ranks.begin(), joined.ranks.end(),
                     [](const model::Rank& rank) { return rank.input && !rank.tail_known; });
}

std::optional<Candidate> find_in_group(const Analysis& analysis, model::GroupIndex group, bool cut) {
  const auto found = judge_lateness(analysis, group);
  if (!found || found->stragglers.empty()) return std::nullopt;
  // A dump that was cut off ends earlier than the others: what is missing in it looks like time. Durations
  // compare each operation with itself.
  if (cut && !found->by_durations) return std::nullopt;
  Candidate out{.group = group,
                .ranks = {},
                .operations = found->operations,
                .delays = found->proof,
                .share = found->share_lost(found->proof),
                .by_durations = found->by_durations,
                .slight = found->slight};
  for (const std::size_t member : found->stragglers)
    out.ranks.push_back(analysis.groups[group].members[member].rank);
  return out;
}

bool holds(const std::vector<RankIndex>& ranks, RankIndex rank) {
  return std::find(ranks.begin(), ranks.end(), rank) != ranks.end();
}

bool any_in(const std::vector<RankIndex>& some, const std::vector<RankIndex>& ranks) {
  return std::any_of(some.begin(), some.end(), [&](RankIndex rank) { return holds(ranks, rank); });
}

// A rank that is late in one group may have waited for a straggler in another: then only the latter is one. A
// host is late because of the one rank on it that is.
bool waited_for_another(const Analysis& analysis, const Candidate& candidate,
                        const std::vector<Candidate>& all) {
  return std::any_of(all.begin(), all.end(), [&](const Candidate& other) {
    if (other.ranks == candidate.ranks || other.delays.lost_ns < candidate.delays.lost_ns / 2) return false;
    if (any_in(other.ranks, candidate.ranks)) return other.ranks.size() < candidate.ranks.size();
    const auto& members = analysis.joined.groups[other.group].members;
    // In a group that both are in, they were compared already.
    const bool compared = any_in(other.ranks, analysis.joined.groups[candidate.group].members);
    return !compared && any_in(candidate.ranks, members);
  });
}

// Of two on two machines, or on one and one that nobody names, the one is late as much as the clock of the
// other is early: calls alone do not tell which. A third would.
bool two_clocks_only(const model::Case& joined, const Candidate& found) {
  const auto& members = joined.groups[found.group].members;
  if (found.by_durations || members.size() != 2) return false;
  const std::string& one = joined.ranks[members.front()].host;
  const std::string& other = joined.ranks[members.back()].host;
  return one != other;
}

// The ranks of one host that are late together by little: a clock that runs ahead looks the same.
bool slightly_late_host(const Candidate& found) {
  return found.ranks.size() > 1 && found.share < kSurelyMuch;
}

// Whoever waits in another group for a rank that left no dump comes late to this one.
bool may_have_waited_for_unseen(const model::Case& joined, const Candidate& found) {
  return std::any_of(joined.groups.begin(), joined.groups.end(), [&](const model::Group& group) {
    return any_in(found.ranks, group.members) &&
           std::any_of(group.members.begin(), group.members.end(),
                       [&](RankIndex rank) { return !joined.ranks[rank].tail_known; });
  });
}

Explanation explain(const Analysis& analysis, const Candidate& found) {
  const model::Case& joined = analysis.joined;
  const model::Lane& lane = *joined.ranks[found.ranks.front()].lane(found.group);
  const Delays& delays = found.delays;
  Explanation explanation;
  explanation.category = model::Category::kPerformanceDegradation;
  explanation.cause = "straggler_rank";
  explanation.state = model::State::kSlow;
  const bool sure =
      delays.persistent && delays.count >= kSurelyOften && (!found.slight || found.share >= kSurelyMuch);
  explanation.strength = sure ? model::Confidence::kHigh : model::Confidence::kMedium;
  const bool unclear = two_clocks_only(joined, found) || slightly_late_host(found) ||
                       may_have_waited_for_unseen(joined, found);
  if (unclear) explanation.strength = model::Confidence::kLow;
  explanation.culprits = found.ranks;
  explanation.at = OperationRef{found.ranks.front(), lane.collectives.back()};
  for (std::size_t i = 0; i < found.ranks.size(); ++i)
    explanation.evidence.push_back({found.ranks[i], found.operations[i]});
  const auto percent = static_cast<int>(100.0 * std::min(found.share, 1.0));
  explanation.headline =
      ranks_text(joined, explanation.culprits) + " came late to " + joined.group_label(found.group) + " " +
      std::to_string(delays.count) + " times, by " + base::span_text(delays.median_ns) +
      " in the median: the others spent " + std::to_string(percent) + " % of the time waiting for " +
      (found.ranks.size() == 1 ? "it" : "them, together on one host");
  explanation.why.push_back(delays.persistent ? "late again and again, to the end of what was recorded"
                                              : "late for a while; the newest calls are on time again");
  if (unclear)
    explanation.why.back() +=
        "; a clock that differs, or a rank without a dump, may look the same: TORCH_NCCL_ENABLE_TIMING=1 "
        "tells";
  explanation.rules_out.push_back("a hang: everything that was recorded is finished");
  if (found.by_durations) {
    explanation.rules_out.push_back(
        "the network: an operation that all have entered does not wait for one of them");
    explanation.rules_out.push_back("clocks: durations are compared, no times of day");
  }
  return explanation;
}

}  // namespace

std::vector<Explanation> find_straggler(const Analysis& analysis) {
  // Only of a job that stands nowhere: in a stalled one, the times around the stall are the stall's.
  if (!analysis.waits.stalls.empty()) return {};
  const bool cut = some_dump_was_cut(analysis.joined);
  std::vector<Candidate> candidates;
  for (model::GroupIndex group = 0; group < analysis.groups.size(); ++group) {
    if (auto candidate = find_in_group(analysis, group, cut)) candidates.push_back(*candidate);
  }
  const Candidate* best = nullptr;
  for (const Candidate& candidate : candidates) {
    if (waited_for_another(analysis, candidate, candidates)) continue;
    if (best == nullptr || candidate.delays.lost_ns > best->delays.lost_ns) best = &candidate;
  }
  if (best == nullptr) return {};
  return {explain(analysis, *best)};
}

}  // namespace unhang::detect
