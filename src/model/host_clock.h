// SPDX-License-Identifier: Apache-2.0
//
// How the clocks of the hosts of a job differ, estimated from operations that complete together. Order across
// hosts may be claimed only beyond the spread. Values only.
#pragma once

#include <cstdint>
#include <string>

namespace unhang::model {

struct HostClock {
  std::string host;
  // What the host's clock shows more than the reference's, nanoseconds: subtract it. 0 for the reference.
  std::int64_t offset_ns = 0;
  std::int64_t spread_ns = 0;  // half the width that the middle half of the differences has
  std::uint64_t samples = 0;  // operations that both sides completed; 0: nothing to compare, offset not known
  bool known = false;         // false: it is not known, and order against other hosts is no proof
  std::string basis;          // for people: "412 collectives that complete together with gpu-a01"
};

// What was assumed where a time lacked its year or its zone.
struct TimeAssumption {
  std::uint32_t input = 0;  // index into Case::inputs
  std::string text;         // "no zone: read as UTC", "no year: the one of the capture, 2026"
};

}  // namespace unhang::model
