// SPDX-License-Identifier: Apache-2.0
#include "detect/arrivals.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/robust.h"
#include "detect/complete_rows.h"

namespace unhang::detect {
namespace {

using base::add_saturated;
using base::median;
using base::subtract_saturated;
using model::Operation;

// How many standard errors of the completion-based offset are given to the clock.
constexpr double kErrorsOfOffset = 3;
// Differences of completions that change by less than this belong to the same look of the watchdogs (ns).
constexpr std::int64_t kSameLook = 500'000;

// The largest offset that a member's clock can sensibly have against the others':
// - A late rank is not late all the time, a clock is: the offset is no more than nearly the smallest
// lateness.
// - Members see the same completion, each up to a polling period later: the mean difference is the offset,
// with the
//   standard error of the mean over the number of looks (not of rows: many are noticed in one look).
struct Offset {
  std::int64_t largest = 0;
  std::int64_t doubt = 0;  // of what the completions say
};

Offset largest_offset(std::vector<std::int64_t> lateness, const std::vector<std::int64_t>& completions) {
  const auto tenth = lateness.begin() + static_cast<std::ptrdiff_t>(lateness.size() / 10);
  std::nth_element(lateness.begin(), tenth, lateness.end());
  double sum = 0;
  double looks = 1;
  for (std::size_t i = 0; i < completions.size(); ++i) {
    sum += static_cast<double>(completions[i]);
    if (i > 0 &&
        std::abs(static_cast<double>(completions[i]) - static_cast<double>(completions[i - 1])) > kSameLook)
      ++looks;
  }
  const double mean = sum / static_cast<double>(completions.size());
  double squares = 0;
  for (const std::int64_t value : completions)
    squares += (static_cast<double>(value) - mean) * (static_cast<double>(value) - mean);
  const double deviation = std::sqrt(squares / static_cast<double>(completions.size()));
  const double doubt = kErrorsOfOffset * deviation / std::sqrt(looks);
  constexpr double kMost = 4e18;  // what the type holds
  const auto from_completions = static_cast<std::int64_t>(std::clamp(mean + doubt, -kMost, kMost));
  return {std::min(*tenth, from_completions), static_cast<std::int64_t>(std::clamp(doubt, 0.0, kMost))};
}

const Operation& operation_of(const Analysis& analysis, model::GroupIndex group, std::size_t member,
                              const CompleteRow& row) {
  return analysis.joined.ranks[analysis.groups[group].members[member].rank]
      .operations[row.operations[member]];
}

std::int64_t window_of(const Arrivals& arrivals) {
  if (arrivals.rows.empty()) return 0;
  return std::max<std::int64_t>(arrivals.rows.back().others_ns - arrivals.rows.front().others_ns, 0);
}

}  // namespace

Arrivals collect_arrivals(const Analysis& analysis, model::GroupIndex group) {
  Arrivals out;
  const std::size_t members = analysis.groups[group].members.size();
  if (members < 2) return out;
  std::vector<std::vector<std::int64_t>> completions(members);
  for (CompleteRow& row : complete_rows(analysis, group, has_call_times)) {
    std::vector<std::int64_t> created;
    std::vector<std::int64_t> completed;
    for (std::size_t m = 0; m < members; ++m) {
      const Operation& op = operation_of(analysis, group, m, row);
      created.push_back(op.created_ns);
      completed.push_back(op.completed_ns);
    }
    const std::int64_t called = median(created);
    ArrivalRow arrival{.sequence = row.sequence,
                       .others_ns = called,
                       .lateness_ns = std::move(created),
                       .operations = std::move(row.operations)};
    const std::int64_t together = median(completed);
    for (std::size_t m = 0; m < members; ++m) {
      arrival.lateness_ns[m] -= arrival.others_ns;
      completions[m].push_back(completed[m] - together);
    }
    out.rows.push_back(std::move(arrival));
  }
  if (out.rows.empty()) return out;
  for (std::size_t m = 0; m < members; ++m) {
    std::vector<std::int64_t> lateness;
    lateness.reserve(out.rows.size());
    for (const ArrivalRow& row : out.rows) lateness.push_back(row.lateness_ns[m]);
    const Offset offset = largest_offset(std::move(lateness), completions[m]);
    out.doubt_ns.push_back(offset.doubt);
    for (ArrivalRow& row : out.rows)
      row.lateness_ns[m] = subtract_saturated(row.lateness_ns[m], offset.largest);
  }
  out.window_ns = window_of(out);
  return out;
}

Arrivals collect_waits(const Analysis& analysis, model::GroupIndex group) {
  Arrivals out;
  out.by_durations = true;
  const std::size_t members = analysis.groups[group].members.size();
  if (members < 2) return out;
  for (CompleteRow& row : complete_rows(analysis, group, has_shared_duration)) {
    std::vector<std::int64_t> created;
    std::vector<std::int64_t> durations;
    for (std::size_t m = 0; m < members; ++m) {
      const Operation& op = operation_of(analysis, group, m, row);
      created.push_back(op.created_ns);
      durations.push_back(*duration_of(op));
    }
    const std::int64_t longest = *std::max_element(durations.begin(), durations.end());
    for (std::int64_t& duration : durations) duration = longest - duration;
    out.rows.push_back(
        {row.sequence, median(std::move(created)), std::move(durations), std::move(row.operations)});
  }
  out.window_ns = window_of(out);
  return out;
}

std::vector<Delays> measure_delays(const Arrivals& arrivals, std::int64_t least_ns) {
  const std::size_t members = arrivals.rows.empty() ? 0 : arrivals.rows.front().lateness_ns.size();
  std::vector<Delays> out(members);
  std::vector<std::vector<std::int64_t>> sizes(members);
  std::vector<std::int64_t> busy_until(members, 0);
  for (std::size_t r = 0; r < arrivals.rows.size(); ++r) {
    const ArrivalRow& row = arrivals.rows[r];
    const auto last = static_cast<std::size_t>(
        std::max_element(row.lateness_ns.begin(), row.lateness_ns.end()) - row.lateness_ns.begin());
    std::int64_t next = std::numeric_limits<std::int64_t>::min();
    for (std::size_t m = 0; m < members; ++m) {
      if (m != last) next = std::max(next, row.lateness_ns[m]);
    }
    const std::int64_t delay = subtract_saturated(row.lateness_ns[last], next);
    if (delay < least_ns || (!arrivals.by_durations && row.others_ns < busy_until[last])) continue;
    busy_until[last] = add_saturated(row.others_ns, row.lateness_ns[last]);
    sizes[last].push_back(delay);
    out[last].lost_ns = add_saturated(out[last].lost_ns, delay);
    if (4 * r >= 3 * arrivals.rows.size()) out[last].persistent = true;
    if (delay > out[last].worst_ns) {
      out[last].worst_ns = delay;
      out[last].worst_row = r;
      out[last].worst_operation = row.operations[last];
    }
  }
  for (std::size_t m = 0; m < members; ++m) {
    out[m].count = sizes[m].size();
    out[m].median_ns = median(std::move(sizes[m]));
  }
  return out;
}

}  // namespace unhang::detect
