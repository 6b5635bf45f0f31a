// SPDX-License-Identifier: Apache-2.0
//
// Where a series of measurements moved to another level, and how surely. By ranks only, so that neither the
// distribution nor a few wild values matter; no random numbers, so that the same series gives the same
// answer.
//
// The place is the one where Pettitt's statistic is largest (Pettitt 1979, Applied Statistics 28, 126-135):
//   U_t = 2 (R_1 + … + R_t) - t (n + 1),  R_i the mid-rank of value i,  K = max |U_t|.
// The chance that a series without a change shows as much: for long series his approximation
//   p = 2 exp(-6 K^2 / (n^3 + n^2));
// for short ones, where that is far too careful, the exact distribution of Mann and Whitney's U at that place
// (1947, Ann. Math. Stat. 18, 50-60; recurrence f(a,b,u) = f(a-1,b,u-b) + f(a,b-1,u)), two-sided and times
// the number of places that were looked at (Bonferroni).
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace unhang::base {

struct ChangePoint {
  std::size_t at = 0;  // the first value of the new level
  double p = 1;        // chance of it in a series without a change
  double before = 0;   // medians
  double after = 0;
};

// The place of a series that is most likely a change, with at least `least_each` values on both sides;
// nullopt where it is too short or holds something that is not finite. n log n.
std::optional<ChangePoint> find_change(std::span<const double> values, std::size_t least_each);

struct ChangeLimits {
  std::size_t least_each = 10;     // values of a level
  double least_ratio = 1.10;       // of the two medians, larger over smaller
  double most_chance = 1e-3;       // p of a change
  double least_noise_ratio = 1.0;  // the step over the spread inside the levels (1.4826 MAD of logarithms)
  std::size_t most_levels = 8;
};

struct Level {
  std::size_t begin = 0, end = 0;  // [begin, end)
  double median = 0;
};

// The levels of a series of positive values, by binary segmentation on their logarithms (Scott and Knott
// 1974): the surest change first, then inside the parts, until nothing passes both the statistical and the
// practical limits. One level where nothing changed; empty for a series that is empty or holds a value that
// is not finite and positive.
std::vector<Level> find_levels(std::span<const double> values, const ChangeLimits& limits = {});

}  // namespace unhang::base
