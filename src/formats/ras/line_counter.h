// SPDX-License-Identifier: Apache-2.0
//
// The line that a place of a text is in, for places that are asked for in their order: one pass over the
// text.
#pragma once

#include <algorithm>
#include <cstdint>

namespace unhang::formats::ras {

class LineCounter {
 public:
  // `line`: that of `begin`.
  LineCounter(const char* begin, std::uint64_t line) : x_at(begin), x_line(line) {}

  std::uint64_t line_of(const char* place) {
    if (place > x_at) {
      x_line += static_cast<std::uint64_t>(std::count(x_at, place, '\n'));
      x_at = place;
    }
    return x_line;
  }

 private:
  const char* x_at;
  std::uint64_t x_line;
};

}  // namespace unhang::formats::ras
