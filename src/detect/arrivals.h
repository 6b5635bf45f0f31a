// SPDX-License-Identifier: Apache-2.0
//
// When the members of a group came to each of its collectives, on one time base, and who kept the others
// waiting for how long. Host clocks differ by an unknown constant; a member's offset is taken as large as the
// evidence allows, so that a clock is never mistaken for a straggler.
#pragma once

#include <cstdint>
#include <vector>

#include "detect/analysis.h"

namespace unhang::detect {

struct ArrivalRow {
  std::int64_t sequence = 0;
  std::int64_t others_ns = 0;             // median of the arrivals
  std::vector<std::int64_t> lateness_ns;  // by member: after the median, offset removed
  std::vector<std::uint32_t> operations;  // by member
};

struct Arrivals {
  std::vector<ArrivalRow> rows;  // collectives that all members recorded, finished and timed; ascending
};

// At most the newest 4,096 rows. Empty when some member recorded nothing or no completion times exist (gloo).
Arrivals collect_arrivals(const Analysis& analysis, model::GroupIndex group);

// The delays that one member caused. Calls that are launched ahead arrive late together: they count as one
// delay, of the size of the first, until the others have moved on past it.
struct Delays {
  std::size_t count = 0;
  std::int64_t lost_ns = 0;  // by the others, in sum
  std::int64_t median_ns = 0;
  bool persistent = false;  // goes on in the newest quarter of the rows
  std::uint32_t worst_operation = 0;
};

// By member. A member causes a delay when it comes at least 5 ms after the last but one.
std::vector<Delays> measure_delays(const Arrivals& arrivals);

}  // namespace unhang::detect
