// SPDX-License-Identifier: Apache-2.0
//
// Training and serving repeat themselves: the same calls in the same order, step after step. The period of
// the calls in a group gives each operation the number of its step, which is how people remember where their
// program was.
#pragma once

#include <cstdint>
#include <optional>

#include "model/case.h"

namespace unhang::detect {

struct Period {
  std::int64_t length = 0;          // operations of a step, at least 2
  std::int64_t first_sequence = 0;  // where the first whole step starts

  // Step of an operation, counted from the first one recorded; nullopt before it.
  std::optional<std::int64_t> iteration(std::int64_t sequence) const {
    if (sequence < first_sequence) return std::nullopt;
    return (sequence - first_sequence) / length;
  }
};

// The period of `group`'s collectives, from the member with the longest list. Nullopt: none, or fewer than
// three whole repetitions, or all calls are alike (a period of one tells nothing). Looks at the newest 8,192
// calls; linear in them.
std::optional<Period> find_period(const model::Case& joined, model::GroupIndex group);

}  // namespace unhang::detect
