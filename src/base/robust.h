// SPDX-License-Identifier: Apache-2.0
//
// Statistics that a few wild values cannot bend: medians and the spread around them.
#pragma once

#include <cstdint>
#include <vector>

namespace unhang::base {

// The lower median. 0 for an empty list. Linear on average; works on a copy.
std::int64_t median(std::vector<std::int64_t> values);

// Median absolute deviation from the median, unscaled (times 1.4826 it estimates a normal's standard
// deviation; Hampel 1974). 0 for an empty list.
std::int64_t median_deviation(const std::vector<std::int64_t>& values);

}  // namespace unhang::base
