// SPDX-License-Identifier: Apache-2.0
#include "base/robust.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <limits>

namespace unhang::base {

std::int64_t median(std::vector<std::int64_t> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

double median_of(std::span<const double> all) {
  std::vector<double> values;
  values.reserve(all.size());
  std::copy_if(all.begin(), all.end(), std::back_inserter(values), [](double v) { return std::isfinite(v); });
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

std::int64_t quantile(std::vector<std::int64_t> values, double q) {
  if (values.empty()) return 0;
  const double share = std::isnan(q) ? 1 : std::clamp(q, 0.0, 1.0);
  const auto rank = static_cast<std::size_t>(std::ceil(share * static_cast<double>(values.size())));
  const auto at =
      values.begin() + static_cast<std::ptrdiff_t>(std::clamp<std::size_t>(rank, 1, values.size()) - 1);
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

std::int64_t median_deviation(const std::vector<std::int64_t>& values) {
  const std::int64_t center = median(values);
  std::vector<std::int64_t> distances;
  distances.reserve(values.size());
  for (const std::int64_t value : values)
    distances.push_back(value > center ? value - center : center - value);
  return median(std::move(distances));
}

double deviation_of(std::span<const double> values) {
  const double center = median_of(values);
  std::vector<double> distances;
  distances.reserve(values.size());
  for (const double value : values) distances.push_back(std::abs(value - center));
  return median_of(distances);
}

std::int64_t add_saturated(std::int64_t a, std::int64_t b) {
  using Limits = std::numeric_limits<std::int64_t>;
  if (b > 0 && a > Limits::max() - b) return Limits::max();
  if (b < 0 && a < Limits::min() - b) return Limits::min();
  return a + b;
}

std::int64_t subtract_saturated(std::int64_t a, std::int64_t b) {
  using Limits = std::numeric_limits<std::int64_t>;
  if (b < 0 && a > Limits::max() + b) return Limits::max();
  if (b > 0 && a < Limits::min() + b) return Limits::min();
  return a - b;
}

}  // namespace unhang::base
