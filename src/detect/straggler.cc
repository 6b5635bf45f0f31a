// SPDX-License-Identifier: Apache-2.0
//
// A rank that arrives last again and again while everything completes. Arrival is the time of the call on the
// host's clock. What a clock's offset looks like is a constant; what a straggler looks like is either time
// that comes and goes, or time that the completions (which all members share) do not show.
// docs/detectors/straggler.md tells the method.
#include <algorithm>
#include <map>
#include <optional>

#include "detect/arrivals.h"
#include "detect/detector.h"
#include "detect/wording.h"

namespace unhang::detect {
namespace {

using model::RankIndex;

constexpr std::size_t kFewestDelays = 5;  // below this, last is chance
// Share of the group's time that the others must lose to it: less is not worth a verdict. In few rows a large
// share comes by chance.
constexpr double kLeastShareLost = 0.2;
constexpr double kLeastShareOfFew = 0.5;
constexpr std::size_t kFewRows = 30;
// Share of all lost time that one rank must cause: else nobody in particular is late.
constexpr double kLeastShareOfDelay = 0.7;

struct Candidate {
  model::GroupIndex group = 0;
  RankIndex rank = 0;
  Delays delays;
  std::int64_t window_ns = 0;
};

std::optional<Candidate> find_in_group(const Analysis& analysis, model::GroupIndex group) {
  const Arrivals arrivals = collect_arrivals(analysis, group);
  if (arrivals.rows.size() < kFewestDelays) return std::nullopt;
  const std::vector<Delays> delays = measure_delays(arrivals);
  std::int64_t all = 0;
  for (const Delays& of_member : delays) all += of_member.lost_ns;
  const auto worst = std::max_element(delays.begin(), delays.end(),
                                      [](const Delays& a, const Delays& b) { return a.lost_ns < b.lost_ns; });
  const std::int64_t window = arrivals.rows.back().others_ns - arrivals.rows.front().others_ns;
  if (worst == delays.end() || worst->count < kFewestDelays) return std::nullopt;
  if (static_cast<double>(worst->lost_ns) < kLeastShareOfDelay * static_cast<double>(all))
    return std::nullopt;
  const double least = arrivals.rows.size() < kFewRows ? kLeastShareOfFew : kLeastShareLost;
  if (static_cast<double>(worst->lost_ns) < least * static_cast<double>(window)) return std::nullopt;
  const auto member = static_cast<std::size_t>(worst - delays.begin());
  return Candidate{group, analysis.groups[group].members[member].rank, *worst, window};
}

// A rank that is late in one group may have waited for a straggler in another: then only the latter is one.
bool waited_for_another(const Analysis& analysis, const Candidate& candidate,
                        const std::vector<Candidate>& all) {
  return std::any_of(all.begin(), all.end(), [&](const Candidate& other) {
    if (other.rank == candidate.rank || other.delays.lost_ns * 2 < candidate.delays.lost_ns) return false;
    const auto& members = analysis.joined.groups[other.group].members;
    // In a group that both are in, they were compared already.
    const auto& shared = analysis.joined.groups[candidate.group].members;
    const bool compared = std::find(shared.begin(), shared.end(), other.rank) != shared.end();
    return !compared && std::find(members.begin(), members.end(), candidate.rank) != members.end();
  });
}

std::string milliseconds(std::int64_t ns) {
  return std::to_string((ns + 500'000) / 1'000'000) + " ms";
}

Explanation explain(const Analysis& analysis, const Candidate& found) {
  const model::Case& joined = analysis.joined;
  const model::Lane& lane = *joined.ranks[found.rank].lane(found.group);
  const Delays& delays = found.delays;
  Explanation explanation;
  explanation.category = model::Category::kPerformanceDegradation;
  explanation.cause = "straggler_rank";
  explanation.state = model::State::kSlow;
  explanation.strength = delays.persistent && delays.count >= 2 * kFewestDelays ? model::Confidence::kHigh
                                                                                : model::Confidence::kMedium;
  explanation.culprits = {found.rank};
  explanation.at = OperationRef{found.rank, lane.collectives.back()};
  explanation.evidence.push_back({found.rank, delays.worst_operation});
  const auto percent = static_cast<int>(100.0 * static_cast<double>(delays.lost_ns) /
                                        static_cast<double>(std::max<std::int64_t>(found.window_ns, 1)));
  explanation.headline = ranks_text(joined, explanation.culprits) + " came late to " +
                         joined.group_label(found.group) + " " + std::to_string(delays.count) +
                         " times, by " + milliseconds(delays.median_ns) +
                         " in the median: the others spent " + std::to_string(std::min(percent, 100)) +
                         " % of the time waiting for it";
  explanation.why.push_back(delays.persistent ? "late again and again, to the end of what was recorded"
                                              : "late for a while; the newest calls are on time again");
  explanation.rules_out.push_back("a hang: everything that was recorded is finished");
  return explanation;
}

}  // namespace

std::vector<Explanation> find_straggler(const Analysis& analysis) {
  // Only of a job that stands nowhere: in a stalled one, the times around the stall are the stall's.
  if (!analysis.waits.stalls.empty()) return {};
  // A dump that was cut off ends earlier than the others: what is missing in it looks like time.
  for (const model::Rank& rank : analysis.joined.ranks) {
    if (rank.input && !rank.tail_known) return {};
  }
  std::vector<Candidate> candidates;
  for (model::GroupIndex group = 0; group < analysis.groups.size(); ++group) {
    if (auto candidate = find_in_group(analysis, group)) candidates.push_back(*candidate);
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
