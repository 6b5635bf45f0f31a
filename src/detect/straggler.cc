// SPDX-License-Identifier: Apache-2.0
//
// A rank that arrives last again and again while everything completes. Arrival is the time of the call on the
// host's clock; clocks of different hosts are put on one base by the operations themselves, which complete
// together: a rank's offset is the median difference of its completions from the others'. Without completion
// times (gloo) a slow clock could not be told from a slow rank, and nothing is said.
#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "base/robust.h"
#include "detect/detector.h"
#include "detect/wording.h"

namespace unhang::detect {
namespace {

using base::median;
using model::Operation;
using model::RankIndex;

constexpr std::size_t kFewestRows = 5;              // below this, last is chance
constexpr std::size_t kMostRows = 4096;             // the newest are enough
constexpr std::int64_t kLeastLateness = 5'000'000;  // ns; below it the watchdog's polling hides everything
// Late by less than this share of an iteration costs nobody anything worth a verdict.
constexpr std::int64_t kLeastShareOfPeriod = 5;  // one fifth
// Standard error of a median of n normal values: 1.2533 sigma / sqrt(n), with sigma = 1.4826 median deviations.
constexpr double kErrorOfMedian = 1.2533 * 1.4826;
// How many standard errors of its clock's offset a rank must be late. Completions are noticed by polling (100 ms), whose
// error is not normal: generous.
constexpr double kErrorsLate = 6;

struct Row {
  std::int64_t sequence = 0;
  std::vector<std::int64_t> created;  // by member
  std::vector<std::int64_t> completed;
};

class GroupLateness {
 public:
  GroupLateness(const Analysis& analysis, model::GroupIndex group)
      : x_analysis(analysis), x_case(analysis.joined), x_group(group) {}

  std::optional<Explanation> find() {
    if (!collect() || x_rows.size() < kFewestRows) return std::nullopt;
    estimate_offsets();
    return judge();
  }

 private:
  // Rows that every member recorded, finished and timed.
  bool collect() {
    const auto& members = x_analysis.groups[x_group].members;
    if (members.size() < 2) return false;
    std::map<std::int64_t, Row> rows;
    for (std::size_t m = 0; m < members.size(); ++m) {
      if (members[m].lane == nullptr) return false;
      const auto& rank = x_case.ranks[members[m].rank];
      const auto& lane = members[m].lane->collectives;
      const std::size_t from = lane.size() > kMostRows ? lane.size() - kMostRows : 0;
      for (std::size_t k = from; k < lane.size(); ++k) {
        const Operation& op = rank.operations[lane[k]];
        if (!op.has(Operation::kFinished) || op.completed_ns == 0 || op.created_ns == 0) continue;
        Row& row = rows[op.collective_sequence];
        if (row.created.size() != m) continue;  // somebody before has not recorded it
        row.created.push_back(op.created_ns);
        row.completed.push_back(op.completed_ns);
      }
    }
    for (auto& [sequence, row] : rows) {
      row.sequence = sequence;
      if (row.created.size() == members.size()) x_rows.push_back(std::move(row));
    }
    return true;
  }

  void estimate_offsets() {
    const std::size_t members = x_rows.front().created.size();
    std::vector<std::vector<std::int64_t>> differences(members);
    for (const Row& row : x_rows) {
      const std::int64_t middle = median(row.completed);
      for (std::size_t m = 0; m < members; ++m) differences[m].push_back(row.completed[m] - middle);
    }
    for (const auto& of_member : differences) {
      x_offsets.push_back(median(of_member));
      x_offset_errors.push_back(kErrorOfMedian * static_cast<double>(base::median_deviation(of_member)) /
                                std::sqrt(static_cast<double>(of_member.size())));
    }
  }

  std::optional<Explanation> judge() {
    const std::size_t members = x_offsets.size();
    std::vector<std::vector<std::int64_t>> lateness(members);
    std::vector<std::size_t> last(members, 0);
    for (const Row& row : x_rows) {
      std::vector<std::int64_t> arrivals(members);
      for (std::size_t m = 0; m < members; ++m) arrivals[m] = row.created[m] - x_offsets[m];
      const std::int64_t middle = median(arrivals);
      for (std::size_t m = 0; m < members; ++m) lateness[m].push_back(arrivals[m] - middle);
      ++last[static_cast<std::size_t>(std::max_element(arrivals.begin(), arrivals.end()) - arrivals.begin())];
    }
    const auto worst = static_cast<std::size_t>(std::max_element(last.begin(), last.end()) - last.begin());
    const std::int64_t late = median(lateness[worst]);
    std::int64_t next = 0;
    for (std::size_t m = 0; m < members; ++m) {
      if (m != worst) next = std::max(next, median(lateness[m]));
    }
    std::vector<std::int64_t> periods;
    for (std::size_t i = 1; i < x_rows.size(); ++i)
      periods.push_back(x_rows[i].created.front() - x_rows[i - 1].created.front());
    const std::int64_t period = median(periods);
    if (last[worst] * 5 < x_rows.size() * 4 || late < kLeastLateness || late < 3 * next ||
        late * kLeastShareOfPeriod < period ||
        static_cast<double>(late) < kErrorsLate * x_offset_errors[worst])
      return std::nullopt;
    return explain(worst, last[worst], late, lateness[worst]);
  }

  Explanation explain(std::size_t member, std::size_t last, std::int64_t late,
                      const std::vector<std::int64_t>& lateness) {
    const auto& progress = x_analysis.groups[x_group].members[member];
    const std::size_t quarter = std::max<std::size_t>(1, lateness.size() / 4);
    const std::int64_t recent =
        median({lateness.end() - static_cast<std::ptrdiff_t>(quarter), lateness.end()});
    const bool persistent = recent * 2 >= late;
    Explanation explanation;
    explanation.category = model::Category::kPerformanceDegradation;
    explanation.cause = "straggler_rank";
    explanation.state = model::State::kSlow;
    explanation.strength = persistent && lateness.size() >= 2 * kFewestRows ? model::Confidence::kHigh
                                                                            : model::Confidence::kMedium;
    explanation.culprits = {progress.rank};
    explanation.at = OperationRef{progress.rank, progress.lane->collectives.back()};
    explanation.evidence.push_back(*explanation.at);
    const auto ms = [](std::int64_t ns) { return std::to_string((ns + 500'000) / 1'000'000) + " ms"; };
    explanation.headline = ranks_text(x_case, explanation.culprits) + " arrives last in " +
                           std::to_string(last) + " of " + std::to_string(lateness.size()) +
                           " collectives of " + x_case.group_label(x_group) + ", " + ms(late) +
                           " late in the median: the others wait for it";
    explanation.why.push_back(
        std::string(persistent ? "persistent" : "transient: the newest calls are on time again") +
        "; spread " + ms(base::median_deviation(lateness)));
    explanation.rules_out.push_back("a hang: everything that was recorded is finished");
    return explanation;
  }

  const Analysis& x_analysis;
  const model::Case& x_case;
  model::GroupIndex x_group;
  std::vector<Row> x_rows;
  std::vector<std::int64_t> x_offsets;  // of each member's clock, ns
  std::vector<double> x_offset_errors;  // their standard errors, ns
};

}  // namespace

std::vector<Explanation> find_straggler(const Analysis& analysis) {
  // Only of a job that stands nowhere: in a stalled one, the times around the stall are the stall's.
  if (!analysis.waits.stalls.empty()) return {};
  std::vector<Explanation> out;
  for (model::GroupIndex group = 0; group < analysis.groups.size(); ++group) {
    if (auto explanation = GroupLateness(analysis, group).find()) out.push_back(std::move(*explanation));
  }
  return out;
}

}  // namespace unhang::detect
