// SPDX-License-Identifier: Apache-2.0
#include "detect/slow_series.h"

#include <algorithm>
#include <iterator>
#include <optional>

#include "base/change_point.h"
#include "base/robust.h"

namespace unhang::detect {
namespace {

using model::SlowSeries;

// The last move to a level that lies a tenth above the lowest one before it.
std::optional<SlowSeries::Change> change_of(std::span<const Measurement> measurements,
                                            const std::vector<base::Level>& levels) {
  std::optional<SlowSeries::Change> found;
  double lowest = levels.front().median;
  for (std::size_t i = 1; i < levels.size(); ++i) {
    const double ratio = levels[i].median / lowest;
    if (ratio >= kLeastDrift && levels[i].median > levels[i - 1].median) {
      found = {levels[i].begin, measurements[levels[i].begin].sequence, ratio, false};
    }
    lowest = std::min(lowest, levels[i].median);
  }
  if (found) {
    const auto at = std::find_if(levels.begin(), levels.end(),
                                 [&](const base::Level& level) { return level.begin == found->at; });
    double before = levels.front().median;
    for (auto level = levels.begin(); level != at; ++level) before = std::min(before, level->median);
    found->persistent = levels.back().median / before >= kLeastDrift;
  }
  return found;
}

// Wild ones are judged against the level that they stand in.
void count_tail(std::span<const Measurement> measurements, const std::vector<base::Level>& levels,
                SlowSeries& out) {
  double all = 0;
  double beyond = 0;
  for (const base::Level& level : levels) {
    for (std::size_t i = level.begin; i < level.end; ++i) {
      const auto value = static_cast<double>(measurements[i].ns);
      all += value;
      if (value <= kTailRatio * level.median) continue;
      ++out.tail;
      beyond += value - level.median;
    }
  }
  out.tail_share = all > 0 ? beyond / all : 0;
}

}  // namespace

std::vector<std::int64_t> blocks_of(std::span<const Measurement> measurements, std::size_t most) {
  std::vector<std::int64_t> out;
  const std::size_t parts = std::min(most, measurements.size());
  for (std::size_t part = 0; part < parts; ++part) {
    const std::size_t begin = part * measurements.size() / parts;
    const std::size_t end = (part + 1) * measurements.size() / parts;
    std::vector<std::int64_t> values;
    for (std::size_t i = begin; i < end; ++i) values.push_back(measurements[i].ns);
    out.push_back(base::median(std::move(values)));
  }
  return out;
}

SlowSeries judge_series(std::span<const Measurement> all, std::size_t looked_at) {
  std::vector<Measurement> measurements;
  std::copy_if(all.begin(), all.end(), std::back_inserter(measurements),
               [](const Measurement& m) { return m.ns > 0; });
  SlowSeries out;
  out.count = measurements.size();
  if (measurements.empty()) return out;
  std::vector<std::int64_t> values;
  std::vector<double> reals;
  for (const Measurement& m : measurements) {
    values.push_back(m.ns);
    reals.push_back(static_cast<double>(m.ns));
  }
  out.median_ns = base::median(values);
  out.p99_ns = base::quantile(values, 0.99);
  out.longest_ns = *std::max_element(values.begin(), values.end());
  out.blocks = blocks_of(measurements, kMostBlocks);
  const auto levels = base::find_levels(
      reals, {.least_each = kLeastOfLevel,
              .least_ratio = kLeastDrift,
              .most_chance = kMostChanceOfAll / static_cast<double>(std::max<std::size_t>(looked_at, 1))});
  out.change = change_of(measurements, levels);
  count_tail(measurements, levels, out);
  return out;
}

}  // namespace unhang::detect
