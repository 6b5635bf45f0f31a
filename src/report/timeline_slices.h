// SPDX-License-Identifier: Apache-2.0
//
// What one rank did, as slices on lanes: a viewer draws slices of one thread properly only where they follow
// each other or lie inside each other, and asynchronous operations of several groups do neither. What does
// not fit goes to the next lane.
#pragma once

#include <cstdint>
#include <vector>

#include "model/case.h"

namespace unhang::report {

// Nanoseconds since the first operation of the whole trace.
using TraceTime = std::uint64_t;

struct TraceSpan {
  std::int64_t origin_ns = 0;    // when the first operation was called
  TraceTime last = 0;            // the last recorded time
  TraceTime end = 0;             // a little later: to here unfinished operations are drawn
  std::size_t without_time = 0;  // operations that have no time and are left out

  TraceTime at(std::int64_t ns) const;
};

TraceSpan trace_span(const model::Case& joined);

struct Slice {
  TraceTime start = 0;
  TraceTime end = 0;  // after start
  std::uint32_t operation = 0;
  std::uint32_t lane = 0;
  bool unfinished = false;
  bool shortened = false;  // drawn as a dot, since all lanes were taken
};

inline constexpr std::uint32_t kMostLanes = 256;

// By lane-wise order of drawing: a slice comes after those that it lies in. Operations inside a coalesced
// block lie in the slice of its closing entry.
std::vector<Slice> slices_of(const model::Rank& rank, const TraceSpan& span);

}  // namespace unhang::report
