// SPDX-License-Identifier: Apache-2.0
#include "detect/slow_engines.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/robust.h"
#include "base/span_text.h"
#include "detect/slow_series.h"

namespace unhang::detect {
namespace {

using model::EngineReading;
using model::SlowFinding;
using model::SlowRate;

// Fewer requests make fewer tokens: then nothing is slow.
constexpr double kSameLoad = 0.8;

struct Reading {
  double tokens = 0;
  double running = 0;
};

std::optional<Reading> reading_of(const EngineReading& reading) {
  Reading out;
  bool any = false;
  for (const model::EngineSeries& series : reading.sample.series) {
    if (!series.generation_tokens || !series.running) continue;
    out.tokens += *series.generation_tokens;
    out.running += *series.running;
    any = true;
  }
  if (!any || !std::isfinite(out.tokens) || !std::isfinite(out.running)) return std::nullopt;
  return out;
}

struct Interval {
  Measurement per_thousand;  // time for a thousand tokens: longer is slower
  double running = 0;
};

std::optional<Interval> interval_of(const EngineReading& a, const EngineReading& b, std::int64_t number) {
  if (!a.time_ns || !b.time_ns || *b.time_ns <= *a.time_ns || *a.time_ns <= 0) return std::nullopt;
  if (a.sample.process_start != b.sample.process_start) return std::nullopt;
  const auto before = reading_of(a);
  const auto after = reading_of(b);
  if (!before || !after || before->running <= 0 || after->running <= 0) return std::nullopt;
  const double tokens = after->tokens - before->tokens;
  if (tokens <= 0) return std::nullopt;
  const double ns = static_cast<double>(*b.time_ns - *a.time_ns) / tokens * 1000;
  if (!(ns >= 1) || ns > 1e18) return std::nullopt;
  return Interval{{number, static_cast<std::int64_t>(ns)}, (before->running + after->running) / 2};
}

double median_running(const std::vector<Interval>& intervals, std::size_t begin, std::size_t end) {
  std::vector<double> values;
  for (std::size_t i = begin; i < end; ++i) values.push_back(intervals[i].running);
  return base::median_of(values);
}

double tokens_per_s(std::int64_t ns_per_thousand) {
  return ns_per_thousand > 0 ? 1e12 / static_cast<double>(ns_per_thousand) : 0;
}

std::optional<SlowRate> judge(const std::string& engine, const std::vector<Interval>& intervals,
                              std::vector<SlowFinding>& findings) {
  if (intervals.empty()) return std::nullopt;
  std::vector<Measurement> measurements;
  for (const Interval& interval : intervals) measurements.push_back(interval.per_thousand);
  const model::SlowSeries series = judge_series(measurements, 1);
  SlowRate out{.engine = engine,
               .readings = intervals.size() + 1,
               .tokens_per_s = tokens_per_s(series.median_ns),
               .blocks = {},
               .ratio = std::nullopt};
  for (const std::int64_t block : series.blocks) out.blocks.push_back(tokens_per_s(block));
  if (!series.change || !series.change->persistent) return out;
  const std::size_t at = series.change->at;
  if (median_running(intervals, at, intervals.size()) < kSameLoad * median_running(intervals, 0, at))
    return out;
  out.ratio = 1 / series.change->ratio;
  SlowFinding found;
  found.kind = model::SlowKind::kThroughputDrift;
  found.cause = "below_baseline";
  found.confidence = model::Confidence::kLow;
  found.text = "the engine makes " + base::percent_text(*out.ratio) +
               " of the tokens a second that it made, with as many requests";
  found.why.push_back("since reading " + std::to_string(at + 2) + " of " + std::to_string(out.readings));
  findings.push_back(std::move(found));
  return out;
}

}  // namespace

std::vector<SlowRate> measure_engines(const Analysis& analysis, std::vector<SlowFinding>& findings) {
  const auto& readings = analysis.joined.engine_readings;
  std::vector<SlowRate> out;
  for (std::size_t begin = 0; begin < readings.size();) {
    std::size_t end = begin;
    while (end < readings.size() && readings[end].engine == readings[begin].engine) ++end;
    std::vector<Interval> intervals;
    for (std::size_t i = begin + 1; i < end; ++i) {
      if (const auto interval =
              interval_of(readings[i - 1], readings[i], static_cast<std::int64_t>(i - begin)))
        intervals.push_back(*interval);
    }
    if (auto rate = judge(readings[begin].engine, intervals, findings)) out.push_back(std::move(*rate));
    begin = end;
  }
  return out;
}

}  // namespace unhang::detect
