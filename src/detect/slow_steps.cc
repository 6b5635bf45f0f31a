// SPDX-License-Identifier: Apache-2.0
#include "detect/slow_steps.h"

#include <algorithm>
#include <cmath>

#include "base/robust.h"
#include "base/span_text.h"
#include "detect/iterations.h"
#include "detect/slow_series.h"

namespace unhang::detect {
namespace {

using model::Operation;
using model::SlowFinding;
using model::SlowSteps;

constexpr std::size_t kFewestSteps = 5;
constexpr std::size_t kMostCalls = 8192;
// Steps of training repeat within a few per cent; what follows a load does not.
constexpr double kRegular = 0.1;  // MAD of the logarithms

// The first member with a list; the others keep its pace.
const model::Rank* pace_maker(const Analysis& analysis, model::GroupIndex group, const model::Lane*& lane) {
  for (const MemberProgress& member : analysis.groups[group].members) {
    if (member.lane == nullptr || member.lane->collectives.size() <= kFewestSteps) continue;
    lane = member.lane;
    return &analysis.joined.ranks[member.rank];
  }
  return nullptr;
}

std::vector<Measurement> steps_of(const Analysis& analysis, model::GroupIndex group, std::int64_t& length) {
  const model::Lane* lane = nullptr;
  const model::Rank* rank = pace_maker(analysis, group, lane);
  if (rank == nullptr) return {};
  const auto period = find_period(analysis.joined, group);
  length = period ? period->length : 1;
  const auto& calls = lane->collectives;
  std::vector<Measurement> out;
  std::int64_t began = 0;
  std::int64_t first = 0;
  std::int64_t current = -1;
  for (std::size_t k = calls.size() > kMostCalls ? calls.size() - kMostCalls : 0; k < calls.size(); ++k) {
    const Operation& op = rank->operations[calls[k]];
    const auto step =
        period ? period->iteration(op.collective_sequence) : std::optional(op.collective_sequence);
    if (!step || *step == current) continue;
    // What follows the step before, begun at its very beginning.
    const bool at_start = !period || (op.collective_sequence - period->first_sequence) % period->length == 0;
    if (began > 0 && *step == current + 1 && at_start && op.created_ns > 0)
      out.push_back({first, base::subtract_saturated(op.created_ns, began)});
    current = *step;
    began = at_start && op.created_ns > 0 ? op.created_ns : 0;
    first = op.collective_sequence;
  }
  return out;
}

bool is_regular(const std::vector<Measurement>& steps, std::size_t begin, std::size_t end) {
  std::vector<double> logs;
  for (std::size_t i = begin; i < std::min(end, steps.size()); ++i)
    logs.push_back(std::log(static_cast<double>(std::max<std::int64_t>(steps[i].ns, 1))));
  return base::deviation_of(logs) <= kRegular;
}

}  // namespace

std::vector<SlowSteps> measure_steps(const Analysis& analysis) {
  std::vector<SlowSteps> out;
  for (model::GroupIndex group = 0; group < analysis.groups.size(); ++group) {
    std::int64_t length = 1;
    const auto steps = steps_of(analysis, group, length);
    if (steps.size() < kFewestSteps) continue;
    out.push_back({group, length, judge_series(steps, 1)});
  }
  return out;
}

std::vector<SlowFinding> judge_steps(const Analysis& analysis, const std::vector<SlowSteps>& steps) {
  const auto largest =
      std::max_element(steps.begin(), steps.end(), [&](const SlowSteps& a, const SlowSteps& b) {
        return analysis.joined.groups[a.group].members.size() <
               analysis.joined.groups[b.group].members.size();
      });
  if (largest == steps.end() || !largest->time.change) return {};
  const auto& change = *largest->time.change;
  std::int64_t length = 1;
  const auto measured = steps_of(analysis, largest->group, length);
  if (!is_regular(measured, 0, change.at) || !is_regular(measured, change.at, measured.size())) return {};
  SlowFinding found;
  found.kind = model::SlowKind::kStepDrift;
  found.cause = "below_baseline";
  found.confidence = model::Confidence::kLow;
  found.slow = found.persistent = change.persistent;
  found.group = largest->group;
  found.since_sequence = change.sequence;
  found.text = std::string(length > 1 ? "steps" : "calls") + " of " +
               analysis.joined.group_label(largest->group) +
               (change.persistent ? " take " : " took for a while ") + base::ratio_text(change.ratio) +
               " times as long since #" + std::to_string(change.sequence);
  return {found};
}

}  // namespace unhang::detect
