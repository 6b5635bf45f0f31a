// SPDX-License-Identifier: Apache-2.0
#include "detect/time_limit.h"

#include <algorithm>
#include <vector>

#include "base/robust.h"
#include "base/span_text.h"
#include "detect/complete_rows.h"

namespace unhang::detect {
namespace {

using model::Operation;
using model::TimeLimit;

constexpr std::size_t kFewestOperations = 100;
constexpr std::size_t kMostOfAll = 1 << 16;
constexpr std::int64_t kTimesQuantile = 3;
constexpr std::int64_t kTimesLongest = 2;
constexpr std::int64_t kMinute = 60'000'000'000;
constexpr std::int64_t kMillisecond = 1'000'000;
constexpr std::int64_t kLongest = std::int64_t{366} * 86400 * 1'000'000'000;

std::optional<std::int64_t> time_of(const Operation& op) {
  if (!op.has(Operation::kFinished)) return std::nullopt;
  if (op.created_ns > 0 && op.completed_ns > op.created_ns) {
    const std::int64_t took = op.completed_ns - op.created_ns;
    if (took <= kLongest) return took;
  }
  return duration_of(op);
}

std::int64_t to_minute(std::int64_t ns) {
  return (std::min(ns, std::int64_t{10} * kLongest) + kMinute - 1) / kMinute * kMinute;
}

std::optional<TimeLimit> limit_of(const Analysis& analysis, model::GroupIndex group) {
  const auto& members = analysis.groups[group].members;
  const std::size_t each = std::max<std::size_t>(kMostOfAll / std::max<std::size_t>(members.size(), 1), 16);
  std::vector<std::int64_t> times;
  std::vector<std::int64_t> limits;
  for (const MemberProgress& member : members) {
    if (member.lane == nullptr) continue;
    const auto& calls = member.lane->collectives;
    const auto& operations = analysis.joined.ranks[member.rank].operations;
    for (std::size_t k = calls.size() > each ? calls.size() - each : 0; k < calls.size(); ++k) {
      const Operation& op = operations[calls[k]];
      const auto took = time_of(op);
      if (!took || op.timeout_ms == 0) continue;
      times.push_back(*took);
      limits.push_back(static_cast<std::int64_t>(op.timeout_ms) * kMillisecond);
    }
  }
  if (times.size() < kFewestOperations) return std::nullopt;
  TimeLimit out{.group = group};
  out.count = times.size();
  out.limit_ns = base::median(std::move(limits));
  out.longest_ns = *std::max_element(times.begin(), times.end());
  out.p999_ns = base::quantile(std::move(times), 0.999);
  out.advised_ns = to_minute(std::max(kTimesQuantile * out.p999_ns, kTimesLongest * out.longest_ns));
  return out;
}

}  // namespace

std::optional<TimeLimit> tight_time_limit(const Analysis& analysis) {
  if (!analysis.waits.stalls.empty()) return std::nullopt;
  std::optional<TimeLimit> worst;
  for (model::GroupIndex group = 0; group < analysis.groups.size(); ++group) {
    const auto limit = limit_of(analysis, group);
    if (!limit ||
        limit->limit_ns >= std::max(kTimesQuantile * limit->p999_ns, kTimesLongest * limit->longest_ns))
      continue;
    const auto tightness = [](const TimeLimit& of) {
      return static_cast<double>(of.advised_ns) / static_cast<double>(of.limit_ns);
    };
    if (!worst || tightness(*limit) > tightness(*worst)) worst = limit;
  }
  return worst;
}

std::optional<model::RecoveryStep> timeout_advice(const Analysis& analysis) {
  const auto limit = tight_time_limit(analysis);
  if (!limit) return std::nullopt;
  return model::RecoveryStep{
      "at the next start raise the time-out of " + analysis.joined.group_label(limit->group) + " from " +
          base::span_text(limit->limit_ns) + " to " + base::span_text(limit->advised_ns) +
          ": it advances, and of " + std::to_string(limit->count) + " operations 99.9 % took up to " +
          base::span_text(limit->p999_ns) + ", the longest " + base::span_text(limit->longest_ns),
      "", false};
}

}  // namespace unhang::detect
