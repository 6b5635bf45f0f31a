// SPDX-License-Identifier: Apache-2.0
#include "base/change_point.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/robust.h"

namespace unhang::base {
namespace {

// Up to here the exact distribution is used: its table has at most 48 * 48 / 4 columns.
constexpr std::size_t kExactUpTo = 48;
// MAD of logarithms below which clocks and rounding, not the network, make the spread.
constexpr double kLeastSpread = 0.005;

// Mid-ranks, from 1.
std::vector<double> ranks_of(std::span<const double> values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return values[a] != values[b] ? values[a] < values[b] : a < b;
  });
  std::vector<double> ranks(values.size());
  for (std::size_t i = 0; i < order.size();) {
    std::size_t end = i;
    while (end < order.size() && values[order[end]] == values[order[i]]) ++end;
    for (std::size_t k = i; k < end; ++k) ranks[order[k]] = static_cast<double>(i + 1 + end) / 2;
    i = end;
  }
  return ranks;
}

// The chance that U of samples of `a` and `b` values is at most `u`, if they are of one distribution.
double chance_of_u(std::size_t a, std::size_t b, double u) {
  const std::size_t most = a * b;
  const auto wanted = static_cast<std::size_t>(std::clamp(std::floor(u), 0.0, static_cast<double>(most)));
  // ways[j][v]: orders of i and j values with U = v; rows for i are made one after the other.
  std::vector<std::vector<double>> ways(b + 1, std::vector<double>(most + 1, 0.0));
  for (auto& row : ways) row[0] = 1;  // i = 0
  for (std::size_t i = 1; i <= a; ++i) {
    ways[0].assign(most + 1, 0.0);
    ways[0][0] = 1;
    for (std::size_t j = 1; j <= b; ++j) {
      std::vector<double> row(most + 1, 0.0);
      for (std::size_t v = 0; v <= most; ++v) row[v] = (v >= j ? ways[j][v - j] : 0.0) + ways[j - 1][v];
      ways[j] = std::move(row);
    }
  }
  const auto& last = ways[b];
  const double all = std::accumulate(last.begin(), last.end(), 0.0);
  return std::accumulate(last.begin(), last.begin() + static_cast<std::ptrdiff_t>(wanted) + 1, 0.0) / all;
}

double chance_of(double statistic, std::size_t at, std::size_t count, std::size_t places) {
  const auto n = static_cast<double>(count);
  if (count > kExactUpTo)
    return std::min(1.0, 2 * std::exp(-6 * statistic * statistic / (n * n * n + n * n)));
  // |U_t| = |t (n - t) - 2 U|, with U of Mann and Whitney.
  const double pairs = static_cast<double>(at) * static_cast<double>(count - at);
  const double smaller = std::ceil((pairs - statistic) / 2);  // ties: towards the middle
  return std::min(1.0, 2 * chance_of_u(at, count - at, smaller) * static_cast<double>(places));
}

// The spread inside the two parts of `logs`, as a normal's standard deviation.
double spread_within(std::span<const double> logs, std::size_t at) {
  std::vector<double> distances;
  distances.reserve(logs.size());
  const double before = median_of(logs.first(at));
  const double after = median_of(logs.subspan(at));
  for (std::size_t i = 0; i < logs.size(); ++i)
    distances.push_back(std::abs(logs[i] - (i < at ? before : after)));
  return kDeviationToSigma * std::max(median_of(distances), kLeastSpread);
}

// Places where the series changes by chance alone with a probability of at most the limit.
void split(std::span<const double> logs, std::size_t begin, std::size_t end, const ChangeLimits& limits,
           std::vector<std::size_t>& cuts) {
  if (cuts.size() + 1 >= limits.most_levels) return;
  const auto change = find_change(logs.subspan(begin, end - begin), limits.least_each);
  if (!change || change->p > limits.most_chance) return;
  const std::size_t at = begin + change->at;
  cuts.push_back(at);
  split(logs, begin, at, limits, cuts);
  split(logs, at, end, limits, cuts);
}

// The first cut was made where the whole series changes most; between its neighbours it may stand better.
void refine(std::span<const double> logs, const ChangeLimits& limits, std::vector<std::size_t>& cuts) {
  for (std::size_t i = 0; i < cuts.size(); ++i) {
    const std::size_t begin = i == 0 ? 0 : cuts[i - 1];
    const std::size_t end = i + 1 < cuts.size() ? cuts[i + 1] : logs.size();
    if (const auto change = find_change(logs.subspan(begin, end - begin), limits.least_each))
      cuts[i] = begin + change->at;
  }
}

// How large the step at cuts[i] is, in units of what it has to be at least.
double step_at(std::span<const double> logs, const std::vector<std::size_t>& cuts, std::size_t i,
               const ChangeLimits& limits) {
  const std::size_t begin = i == 0 ? 0 : cuts[i - 1];
  const std::size_t end = i + 1 < cuts.size() ? cuts[i + 1] : logs.size();
  const auto part = logs.subspan(begin, end - begin);
  const std::size_t at = cuts[i] - begin;
  const double step = std::abs(median_of(part.subspan(at)) - median_of(part.first(at)));
  return std::min(step / std::log(limits.least_ratio),
                  step / (limits.least_noise_ratio * spread_within(part, at)));
}

// Something that rises and falls again is first cut where the medians beside the cut are alike. So all cuts
// are made first, and those that are too small are taken back afterwards, the smallest first.
void take_back_small(std::span<const double> logs, const ChangeLimits& limits,
                     std::vector<std::size_t>& cuts) {
  while (!cuts.empty()) {
    std::size_t smallest = 0;
    double least = step_at(logs, cuts, 0, limits);
    for (std::size_t i = 1; i < cuts.size(); ++i) {
      const double step = step_at(logs, cuts, i, limits);
      if (step < least) {
        least = step;
        smallest = i;
      }
    }
    if (least >= 1) return;
    cuts.erase(cuts.begin() + static_cast<std::ptrdiff_t>(smallest));
  }
}

}  // namespace

std::optional<ChangePoint> find_change(std::span<const double> values, std::size_t least_each) {
  const std::size_t n = values.size();
  const std::size_t least = std::max<std::size_t>(least_each, 1);
  if (n < 2 || n / 2 < least) return std::nullopt;
  if (!std::all_of(values.begin(), values.end(), [](double v) { return std::isfinite(v); }))
    return std::nullopt;
  const std::vector<double> ranks = ranks_of(values);
  double sum = 0;
  double largest = -1;
  std::size_t at = least;
  for (std::size_t t = 1; t + least <= n; ++t) {
    sum += ranks[t - 1];
    if (t < least) continue;
    const double u = std::abs(2 * sum - static_cast<double>(t) * static_cast<double>(n + 1));
    if (u > largest) {
      largest = u;
      at = t;
    }
  }
  return ChangePoint{at, chance_of(largest, at, n, n + 1 - 2 * least), median_of(values.first(at)),
                     median_of(values.subspan(at))};
}

std::vector<Level> find_levels(std::span<const double> values, const ChangeLimits& limits) {
  std::vector<double> logs;
  logs.reserve(values.size());
  for (const double value : values) {
    if (!std::isfinite(value) || value <= 0) return {};
    logs.push_back(std::log(value));
  }
  if (logs.empty()) return {};
  std::vector<std::size_t> cuts;
  split(logs, 0, logs.size(), limits, cuts);
  std::sort(cuts.begin(), cuts.end());
  take_back_small(logs, limits, cuts);
  refine(logs, limits, cuts);
  cuts.push_back(logs.size());
  std::vector<Level> levels;
  std::size_t begin = 0;
  for (const std::size_t end : cuts) {
    levels.push_back({begin, end, median_of(values.subspan(begin, end - begin))});
    begin = end;
  }
  return levels;
}

}  // namespace unhang::base
