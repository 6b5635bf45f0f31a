// SPDX-License-Identifier: Apache-2.0
#include "detect/stall_order.h"

#include <algorithm>

#include "detect/stall_place.h"

namespace unhang::detect {

bool queues_behind_another(const Analysis& analysis, const Stall& stall) {
  return std::any_of(stall.waiting.begin(), stall.waiting.end(), [&](model::RankIndex rank) {
    const std::uint32_t here = place_of(analysis, stall, rank).operation;
    const auto& stands_in = analysis.waits.ranks[rank].stands_in;
    return std::any_of(stands_in.begin(), stands_in.end(), [&](std::size_t other) {
      const Stall& before = analysis.waits.stalls[other];
      return &before != &stall && place_of(analysis, before, rank).operation < here;
    });
  });
}

}  // namespace unhang::detect
