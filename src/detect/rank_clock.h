// SPDX-License-Identifier: Apache-2.0
//
// Times of operations of different ranks on one clock: what Case::clocks knows of their hosts is taken off.
// Of ranks whose hosts nobody names, the collectives of the largest group that they finished together tell by
// how much their clocks differ, where that is more than watchdogs are late. Else their own time stands. For
// order and nearness of operations; what people are shown goes through host_times.h.
#pragma once

#include <cstdint>
#include <vector>

#include "model/case.h"

namespace unhang::detect {

class RankClock {
 public:
  explicit RankClock(const model::Case& joined);
  // 0 (not recorded) stays 0; wraps rather than overflows where a time is nonsense.
  std::int64_t common(model::RankIndex rank, std::int64_t ns) const {
    if (ns == 0) return 0;
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(ns) -
                                     static_cast<std::uint64_t>(x_offsets[rank]));
  }

 private:
  std::vector<std::int64_t> x_offsets;  // by RankIndex
};

}  // namespace unhang::detect
