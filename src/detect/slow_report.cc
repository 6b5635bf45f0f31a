// SPDX-License-Identifier: Apache-2.0
#include "detect/slow_report.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "base/span_text.h"
#include "detect/complete_rows.h"
#include "detect/detector.h"
#include "detect/lateness.h"
#include "detect/slow_engines.h"
#include "detect/slow_pairs.h"
#include "detect/slow_steps.h"
#include "detect/slow_transfers.h"
#include "detect/time_limit.h"
#include "detect/wording.h"

namespace unhang::detect {
namespace {

using model::LateRank;
using model::SlowFinding;
using model::SlowOutcome;
using model::SlowReport;

constexpr std::size_t kFewestRows = 10;    // of a group, to say that nobody is late in it
constexpr std::size_t kFewestSeries = 20;  // measurements, to say that nothing changed
constexpr double kLargeOnce = 0.05;        // share of the time that one delay costs: worth a word
constexpr std::size_t kMostFindings = 24;

SlowFinding of_explanation(const Explanation& explanation) {
  SlowFinding found;
  found.kind = model::SlowKind::kStraggler;
  found.side = model::SlowSide::kCompute;
  found.cause = explanation.cause;
  found.confidence = explanation.strength;
  found.text = explanation.headline;
  found.why = explanation.why;
  found.culprits = explanation.culprits;
  if (explanation.at) found.at = SlowFinding::At{explanation.at->rank, explanation.at->operation};
  return found;
}

class Builder {
 public:
  explicit Builder(const Analysis& analysis) : x_analysis(analysis) {}

  SlowReport build() {
    add_lateness();
    x_out.transfers = measure_transfers(x_analysis);
    x_out.pairs = measure_pairs(x_analysis);
    add_findings(judge_pairs(x_analysis, x_out.pairs));
    add_findings(judge_transfers(x_analysis, x_out.transfers));
    x_out.steps = measure_steps(x_analysis);
    add_findings(judge_steps(x_analysis, x_out.steps));
    std::vector<SlowFinding> of_engines;
    x_out.engines = measure_engines(x_analysis, of_engines);
    add_findings(of_engines);
    x_out.time_limit = tight_time_limit(x_analysis);
    sort_findings();
    say_what_was_not_judged();
    conclude();
    return std::move(x_out);
  }

 private:
  void add_findings(const std::vector<SlowFinding>& found) {
    x_out.findings.insert(x_out.findings.end(), found.begin(), found.end());
  }

  void add_lateness() {
    for (const Explanation& explanation : find_straggler(x_analysis)) {
      x_out.findings.push_back(of_explanation(explanation));
    }
    std::map<model::RankIndex, LateRank> ranks;
    for (model::GroupIndex group = 0; group < x_analysis.groups.size(); ++group) {
      const auto found = judge_lateness(x_analysis, group);
      if (!found) {
        x_untimed.push_back(group);
        continue;
      }
      if (found->rows >= kFewestRows) x_judged = true;
      x_by_durations = x_by_durations || found->by_durations;
      for (std::size_t member = 0; member < found->delays.size(); ++member) add_rank(*found, member, ranks);
    }
    for (auto& [rank, late] : ranks) x_out.ranks.push_back(late);
    std::stable_sort(x_out.ranks.begin(), x_out.ranks.end(),
                     [](const LateRank& a, const LateRank& b) { return a.share_lost > b.share_lost; });
  }

  void add_rank(const GroupLateness& found, std::size_t member, std::map<model::RankIndex, LateRank>& ranks) {
    const Delays& delays = found.delays[member];
    const LateRank late{.rank = x_analysis.groups[found.group].members[member].rank,
                        .group = found.group,
                        .rows = found.rows,
                        .last = delays.count,
                        .median_lag_ns = delays.median_ns,
                        .share_lost = std::min(found.share_lost(delays), 1.0),
                        .by_durations = found.by_durations};
    const auto [place, is_new] = ranks.try_emplace(late.rank, late);
    if (!is_new &&
        std::tuple(late.share_lost, late.last) > std::tuple(place->second.share_lost, place->second.last))
      place->second = late;
    const auto worst = static_cast<double>(delays.worst_ns);
    const bool named =
        std::find(found.stragglers.begin(), found.stragglers.end(), member) != found.stragglers.end();
    if (found.rows >= kFewestRows && !named && worst >= kLargeOnce * static_cast<double>(found.window_ns)) {
      add_large_once(found, late, delays);
    }
  }

  void add_large_once(const GroupLateness& found, const LateRank& late, const Delays& delays) {
    SlowFinding once;
    once.kind = model::SlowKind::kTail;
    once.side = model::SlowSide::kCompute;
    once.cause = "straggler_rank";
    once.slow = once.persistent = false;
    once.suspects = {late.rank};
    once.group = found.group;
    once.at = SlowFinding::At{late.rank, delays.worst_operation};
    const auto& worst = x_analysis.joined.ranks[late.rank].operations[delays.worst_operation];
    once.text = ranks_text(x_analysis.joined, {late.rank}) + " kept the others waiting for " +
                base::span_text(delays.worst_ns) + " at " + operation_text(x_analysis.joined, worst);
    x_out.findings.push_back(std::move(once));
  }

  // Steps and tokens that only follow from something that is found already are no trouble of their own.
  void sort_findings() {
    const bool found = std::any_of(x_out.findings.begin(), x_out.findings.end(), [](const SlowFinding& f) {
      return f.slow && f.side != model::SlowSide::kUnknown;
    });
    for (SlowFinding& finding : x_out.findings) {
      if (!found || finding.side != model::SlowSide::kUnknown) continue;
      finding.slow = false;
      finding.why.push_back("what is named above accounts for it");
    }
    std::stable_sort(x_out.findings.begin(), x_out.findings.end(),
                     [](const SlowFinding& a, const SlowFinding& b) { return a.slow > b.slow; });
    if (x_out.findings.size() > kMostFindings) x_out.findings.resize(kMostFindings);
  }

  void say_what_was_not_judged() {
    const model::Case& joined = x_analysis.joined;
    auto& out = x_out.not_judged;
    if (joined.has_dumps && x_out.transfers.empty())
      out.push_back(
          "how long transfers take: no durations were recorded (TORCH_NCCL_ENABLE_TIMING=1 at the next start "
          "records them)");
    if (joined.has_dumps && !x_by_durations && x_judged)
      out.push_back(
          "lags of less than 5 ms, or less than a fifth of the time: only calls were timed, no durations");
    if (joined.has_dumps && x_out.ranks.empty())
      out.push_back("who comes last: no collective was timed by all members of its group");
    else if (!x_untimed.empty())
      out.push_back("who comes last in " + untimed_text() + ": not all members left times");
    if (joined.has_dumps && x_out.pairs.empty() && has_transfers())
      out.push_back(
          "single pairs of ranks: sends and receives have no times of their own (batches never have)");
    if (!joined.has_dumps && x_out.engines.empty())
      out.push_back(
          "anything: there are no Flight Recorder dumps and no two readings of an engine's counters");
  }

  bool has_transfers() const {
    return std::any_of(x_analysis.joined.groups.begin(), x_analysis.joined.groups.end(),
                       [](const model::Group& group) { return group.carries_p2p; });
  }

  std::string untimed_text() const {
    constexpr std::size_t kNamed = 3;
    std::string out;
    for (std::size_t i = 0; i < std::min(x_untimed.size(), kNamed); ++i)
      out += (i > 0 ? ", " : "") + x_analysis.joined.group_label(x_untimed[i]);
    if (x_untimed.size() > kNamed)
      out += " and " + std::to_string(x_untimed.size() - kNamed) + " more groups";
    return out;
  }

  void conclude() {
    const bool slow = std::any_of(x_out.findings.begin(), x_out.findings.end(),
                                  [](const SlowFinding& finding) { return finding.slow; });
    const bool measured = std::any_of(x_out.transfers.begin(), x_out.transfers.end(),
                                      [](const auto& one) { return one.time.count >= kFewestSeries; }) ||
                          std::any_of(x_out.engines.begin(), x_out.engines.end(),
                                      [](const auto& one) { return one.readings > kFewestSeries; });
    if (!x_analysis.waits.stalls.empty()) {
      x_out.outcome = SlowOutcome::kStopped;
    } else if (slow) {
      x_out.outcome = SlowOutcome::kSlow;
    } else {
      x_out.outcome = x_judged || measured ? SlowOutcome::kNothingSlow : SlowOutcome::kUnknown;
    }
  }

  const Analysis& x_analysis;
  SlowReport x_out;
  std::vector<model::GroupIndex> x_untimed;
  bool x_judged = false;
  bool x_by_durations = false;
};

}  // namespace

SlowReport slow_report(const Analysis& analysis) {
  return Builder(analysis).build();
}

std::vector<SlowFinding> slow_network(const Analysis& analysis) {
  std::vector<SlowFinding> out = judge_pairs(analysis, measure_pairs(analysis));
  for (SlowFinding& found : judge_transfers(analysis, measure_transfers(analysis)))
    out.push_back(std::move(found));
  return out;
}

}  // namespace unhang::detect
