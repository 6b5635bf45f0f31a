// SPDX-License-Identifier: Apache-2.0
//
// When the members of a group came to each of its collectives, and who kept the others waiting for how long.
// Two ways to know it, and neither takes a clock for a straggler:
//
// - by durations, where they were recorded: who waits inside an operation is in it longer, so that a member
//   came as much later as its duration is shorter. No clock is compared at all;
// - else by the times of the calls. Host clocks differ by an unknown constant; a member's offset is taken as
//   large as the evidence allows.
#pragma once

#include <cstdint>
#include <vector>

#include "detect/analysis.h"

namespace unhang::detect {

struct ArrivalRow {
  std::int64_t sequence = 0;
  std::int64_t others_ns = 0;  // median of the calls
  std::vector<std::int64_t>
      lateness_ns;  // by member: of calls after the median, of durations after the first
  std::vector<std::uint32_t> operations;  // by member
};

struct Arrivals {
  std::vector<ArrivalRow> rows;  // collectives that all members recorded, finished and timed; ascending
  bool by_durations = false;
  std::int64_t window_ns = 0;  // from the first call to the last
  // By member, of times of calls: how far its clock may be off. A delay below it proves nothing. Empty:
  // durations.
  std::vector<std::int64_t> doubt_ns = {};
};

// At most the newest 4,096 rows. Empty when some member recorded nothing or no completion times exist (gloo).
Arrivals collect_arrivals(const Analysis& analysis, model::GroupIndex group);
// The same by durations. Empty where they were not recorded.
Arrivals collect_waits(const Analysis& analysis, model::GroupIndex group);

// The delays that one member caused. Calls that are launched ahead arrive late together: they count as one
// delay, of the size of the first, until the others have moved on past it. (Durations show each once.)
struct Delays {
  std::size_t count = 0;
  std::int64_t lost_ns = 0;  // by the others, in sum
  std::int64_t median_ns = 0;
  bool persistent = false;    // goes on in the newest quarter of the rows
  std::int64_t worst_ns = 0;  // the longest
  std::size_t worst_row = 0;
  std::uint32_t worst_operation = 0;
};

// By member. A member causes a delay when it comes at least `least_ns` after the last but one.
inline constexpr std::int64_t kLeastDelay = 5'000'000;  // below it everything is noise of the scheduler
std::vector<Delays> measure_delays(const Arrivals& arrivals, std::int64_t least_ns = kLeastDelay);

}  // namespace unhang::detect
