// SPDX-License-Identifier: Apache-2.0
//
// A line that a process of a simulated job writes, and the times as its writers print them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/time_text.h"

namespace unhang::simulate {

struct LogLine {
  std::int64_t at = 0;  // true time: lines of one file stand in its order
  std::string text;     // may hold several physical lines
};
using LogLines = std::vector<LogLine>;

// "1129 17:00:10.123456789": what PyTorch's C++ code prints; the month has no leading zero.
inline std::string torch_time(std::int64_t ns) {
  const std::string utc = base::utc_text(ns);  // "2026-11-29T17:00:10.123456789Z"
  std::string out = utc.substr(5, 2) + utc.substr(8, 2) + " " + utc.substr(11, 18);
  if (out.front() == '0') out.erase(0, 1);
  return out;
}

// "2026-11-29 17:00:10"
inline std::string plain_time(std::int64_t ns) {
  const std::string utc = base::utc_text(ns);
  return utc.substr(0, 10) + " " + utc.substr(11, 8);
}

}  // namespace unhang::simulate
