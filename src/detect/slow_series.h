// SPDX-License-Identifier: Apache-2.0
//
// Measurements of one thing over time: their distribution, the level they moved to, the few wild ones.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/slow_report.h"

namespace unhang::detect {

struct Measurement {
  std::int64_t sequence = 0;
  std::int64_t ns = 0;  // positive; others are left out
};

// `looked_at`: how many series are judged together, so that chance finds nothing in many of them.
model::SlowSeries judge_series(std::span<const Measurement> measurements, std::size_t looked_at);

// Medians of at most `most` parts of equal length.
std::vector<std::int64_t> blocks_of(std::span<const Measurement> measurements, std::size_t most);

// The limits of issue and literature: at least ten measurements and a tenth of difference for a level
// (Greyhound, ATC'25), chance of at most one in a thousand over all series together.
inline constexpr std::size_t kLeastOfLevel = 10;
inline constexpr double kLeastDrift = 1.10;
inline constexpr double kMostChanceOfAll = 1e-3;
// "One bad iteration in 50": counted beyond twice the median.
inline constexpr double kTailRatio = 2.0;
inline constexpr std::size_t kMostBlocks = 40;

}  // namespace unhang::detect
