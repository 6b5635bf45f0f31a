// SPDX-License-Identifier: Apache-2.0
//
// The collectives of a group that every member recorded in a way that can be measured: what lateness and
// transfer times are read from.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "detect/analysis.h"

namespace unhang::detect {

struct CompleteRow {
  std::int64_t sequence = 0;
  std::vector<std::uint32_t> operations;  // by member: index in its operations
};

// Rows of which all members recorded an operation that `wanted` takes; ascending. At most the newest 4,096
// operations of each member are looked at. Empty where some member recorded nothing.
std::vector<CompleteRow> complete_rows(const Analysis& analysis, model::GroupIndex group,
                                       bool (*wanted)(const model::Case&, const model::Operation&));

// Finished, with the times of call and completion.
bool has_call_times(const model::Case& joined, const model::Operation& op);
// Finished, with the time of the call and a duration that can be true, of a kind whose members wait for each
// other: a broadcast's root may go on alone.
bool has_shared_duration(const model::Case& joined, const model::Operation& op);

// Nanoseconds that the device spent in the operation; nullopt: not recorded, or no such number can be true
// (not finite, not positive, more than a year).
std::optional<std::int64_t> duration_of(const model::Operation& op);

}  // namespace unhang::detect
