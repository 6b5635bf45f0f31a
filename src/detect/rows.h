// SPDX-License-Identifier: Apache-2.0
//
// Rows of a group: the same collective on all members. A row is made only where somebody needs it; comparing
// whole rings goes lane by lane, so that the cost is linear in the operations.
#pragma once

#include <cstdint>
#include <vector>

#include "detect/call_keys.h"
#include "model/case.h"

namespace unhang::detect {

struct Cell {
  model::RankIndex rank = 0;
  std::uint32_t operation = 0;
  std::uint32_t key = 0;  // of CallKeys
};

// The members that recorded collective `sequence` of `group`, in the order of the members.
std::vector<Cell> row_of(const model::Case& joined, CallKeys& keys, model::GroupIndex group,
                         std::int64_t sequence);

// The key that most cells have. `tied`: another key has as many.
struct Majority {
  std::uint32_t key = 0;
  std::size_t count = 0;
  bool tied = false;
};
Majority majority_of(const std::vector<Cell>& row);

// Sequence numbers of the rows whose members did not all make the same call, ascending.
std::vector<std::int64_t> differing_rows(const model::Case& joined, CallKeys& keys, model::GroupIndex group);

}  // namespace unhang::detect
