// SPDX-License-Identifier: Apache-2.0
//
// How many rows a rank brings to an uneven all_to_all: the same wherever it is told, in dumps and in logs.
#pragma once

#include <cstdint>

#include "simulate/job.h"
#include "simulate/random.h"

namespace unhang::simulate {

struct UnevenRows {
  std::int64_t in = 0;
  std::int64_t out = 0;
};

// What each member sends is what the one before it gets: sums match although no two ranks are equal.
// `sequence`: of the call in its group.
inline UnevenRows uneven_rows(const Job& job, std::int32_t rank, Slot slot, std::int64_t sequence,
                              std::int64_t mean) {
  const std::int32_t group = job.layout().group_of(rank, slot);
  const std::int32_t member = job.layout().rank_in_group(rank, slot);
  const auto rows = [&](std::int32_t who) {
    const std::uint64_t drawn = hash({job.seed(), 104, static_cast<std::uint64_t>(group),
                                      static_cast<std::uint64_t>(sequence), static_cast<std::uint64_t>(who)});
    return mean - mean / 4 + static_cast<std::int64_t>(drawn % static_cast<std::uint64_t>(mean / 2));
  };
  return {rows(member), rows((member + 1) % job.layout().size(slot))};
}

}  // namespace unhang::simulate
