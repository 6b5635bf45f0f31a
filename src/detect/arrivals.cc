// SPDX-License-Identifier: Apache-2.0
#include "detect/arrivals.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "base/robust.h"

namespace unhang::detect {
namespace {

using base::median;
using model::Operation;

constexpr std::size_t kMostRows = 4096;
constexpr std::int64_t kLeastDelay = 5'000'000;  // ns; below it everything is noise of the scheduler
// How many standard errors of the completion-based offset are given to the clock.
constexpr double kErrorsOfOffset = 3;
// Differences of completions that change by less than this belong to the same look of the watchdogs (ns).
constexpr std::int64_t kSameLook = 500'000;

struct RawRow {
  std::vector<std::int64_t> created, completed;
  std::vector<std::uint32_t> operations;
};

std::map<std::int64_t, RawRow> complete_rows(const Analysis& analysis, model::GroupIndex group) {
  const auto& members = analysis.groups[group].members;
  std::map<std::int64_t, RawRow> rows;
  for (std::size_t m = 0; m < members.size(); ++m) {
    if (members[m].lane == nullptr) return {};
    const auto& operations = analysis.joined.ranks[members[m].rank].operations;
    const auto& lane = members[m].lane->collectives;
    for (std::size_t k = lane.size() > kMostRows ? lane.size() - kMostRows : 0; k < lane.size(); ++k) {
      const Operation& op = operations[lane[k]];
      if (!op.has(Operation::kFinished) || op.completed_ns == 0 || op.created_ns == 0) continue;
      const auto at =
          m == 0 ? rows.try_emplace(op.collective_sequence).first : rows.find(op.collective_sequence);
      if (at == rows.end() || at->second.created.size() != m)
        continue;  // a member before has not recorded it
      at->second.created.push_back(op.created_ns);
      at->second.completed.push_back(op.completed_ns);
      at->second.operations.push_back(lane[k]);
    }
  }
  std::erase_if(rows, [&](const auto& row) { return row.second.created.size() != members.size(); });
  return rows;
}

// The largest offset that a member's clock can sensibly have against the others':
// - A late rank is not late all the time, a clock is: the offset is no more than nearly the smallest
// lateness.
// - Members see the same completion, each up to a polling period later: the mean difference is the offset,
// with the
//   standard error of the mean over the number of looks (not of rows: many are noticed in one look).
std::int64_t largest_offset(std::vector<std::int64_t> lateness,
                            const std::vector<std::int64_t>& completions) {
  const auto tenth = lateness.begin() + static_cast<std::ptrdiff_t>(lateness.size() / 10);
  std::nth_element(lateness.begin(), tenth, lateness.end());
  double sum = 0;
  double looks = 1;
  for (std::size_t i = 0; i < completions.size(); ++i) {
    sum += static_cast<double>(completions[i]);
    if (i > 0 && std::abs(completions[i] - completions[i - 1]) > kSameLook) ++looks;
  }
  const double mean = sum / static_cast<double>(completions.size());
  double squares = 0;
  for (const std::int64_t value : completions)
    squares += (static_cast<double>(value) - mean) * (static_cast<double>(value) - mean);
  const double deviation = std::sqrt(squares / static_cast<double>(completions.size()));
  const double from_completions = mean + kErrorsOfOffset * deviation / std::sqrt(looks);
  return std::min(*tenth, static_cast<std::int64_t>(from_completions));
}

}  // namespace

Arrivals collect_arrivals(const Analysis& analysis, model::GroupIndex group) {
  Arrivals out;
  const std::size_t members = analysis.groups[group].members.size();
  if (members < 2) return out;
  auto raw = complete_rows(analysis, group);
  std::vector<std::vector<std::int64_t>> completions(members);
  for (auto& [sequence, row] : raw) {
    ArrivalRow arrival{.sequence = sequence,
                       .others_ns = median(row.created),
                       .lateness_ns = std::move(row.created),
                       .operations = std::move(row.operations)};
    const std::int64_t completed = median(row.completed);
    for (std::size_t m = 0; m < members; ++m) {
      arrival.lateness_ns[m] -= arrival.others_ns;
      completions[m].push_back(row.completed[m] - completed);
    }
    out.rows.push_back(std::move(arrival));
  }
  if (out.rows.empty()) return out;
  for (std::size_t m = 0; m < members; ++m) {
    std::vector<std::int64_t> lateness;
    lateness.reserve(out.rows.size());
    for (const ArrivalRow& row : out.rows) lateness.push_back(row.lateness_ns[m]);
    const std::int64_t offset = largest_offset(std::move(lateness), completions[m]);
    for (ArrivalRow& row : out.rows) row.lateness_ns[m] -= offset;
  }
  return out;
}

std::vector<Delays> measure_delays(const Arrivals& arrivals) {
  const std::size_t members = arrivals.rows.empty() ? 0 : arrivals.rows.front().lateness_ns.size();
  std::vector<Delays> out(members);
  std::vector<std::vector<std::int64_t>> sizes(members);
  std::vector<std::int64_t> busy_until(members, 0);
  std::vector<std::int64_t> worst(members, 0);
  for (std::size_t r = 0; r < arrivals.rows.size(); ++r) {
    const ArrivalRow& row = arrivals.rows[r];
    const auto last = static_cast<std::size_t>(
        std::max_element(row.lateness_ns.begin(), row.lateness_ns.end()) - row.lateness_ns.begin());
    std::int64_t next = std::numeric_limits<std::int64_t>::min();
    for (std::size_t m = 0; m < members; ++m) {
      if (m != last) next = std::max(next, row.lateness_ns[m]);
    }
    const std::int64_t delay = row.lateness_ns[last] - next;
    if (delay < kLeastDelay || row.others_ns < busy_until[last]) continue;
    busy_until[last] = row.others_ns + row.lateness_ns[last];
    sizes[last].push_back(delay);
    out[last].lost_ns += delay;
    if (4 * r >= 3 * arrivals.rows.size()) out[last].persistent = true;
    if (delay > worst[last]) {
      worst[last] = delay;
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
