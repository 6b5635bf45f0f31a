// SPDX-License-Identifier: Apache-2.0
//
// Statistics that a few wild values cannot bend: medians and the spread around them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace unhang::base {

// The lower median. 0 for an empty list. Linear on average; works on a copy.
std::int64_t median(std::vector<std::int64_t> values);
// The same of real numbers; what is not finite is left out.
double median_of(std::span<const double> values);

// The smallest value that a share `q` of all do not exceed (nearest rank; q is clamped to 0…1). 0 for an
// empty list. Linear on average; works on a copy.
std::int64_t quantile(std::vector<std::int64_t> values, double q);

// Median absolute deviation from the median, unscaled (times 1.4826 it estimates a normal's standard
// deviation; Hampel 1974). 0 for an empty list.
std::int64_t median_deviation(const std::vector<std::int64_t>& values);
double deviation_of(std::span<const double> values);

// What the deviation is multiplied by to stand for a normal's standard deviation.
inline constexpr double kDeviationToSigma = 1.4826;

// Sum and difference, held at the ends of their type: hostile times must not wrap around.
std::int64_t add_saturated(std::int64_t a, std::int64_t b);
std::int64_t subtract_saturated(std::int64_t a, std::int64_t b);

}  // namespace unhang::base
