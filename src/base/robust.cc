// SPDX-License-Identifier: Apache-2.0
#include "base/robust.h"

#include <algorithm>
#include <cstddef>

namespace unhang::base {

std::int64_t median(std::vector<std::int64_t> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

std::int64_t median_deviation(const std::vector<std::int64_t>& values) {
  const std::int64_t center = median(values);
  std::vector<std::int64_t> distances;
  distances.reserve(values.size());
  for (const std::int64_t value : values)
    distances.push_back(value > center ? value - center : center - value);
  return median(std::move(distances));
}

}  // namespace unhang::base
