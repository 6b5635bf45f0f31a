// SPDX-License-Identifier: Apache-2.0
//
// A block of bytes to lines: ends of \n, \r\n and lone \r (a progress bar overwrites itself: what it wrote
// last stands in front of the next record), colour codes and NULs taken out, lines beyond a bound cut.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace unhang::formats::log {

inline constexpr std::size_t kLongestLine = 64 << 10;

struct PhysicalLine {
  std::uint32_t begin = 0, length = 0;  // in the block
  std::uint32_t number = 0;             // of \n in front of it in the block
};

// What a block adds to the counts of its log.
struct PhysicalCounts {
  std::uint64_t newlines = 0;
  std::uint64_t cut_lines = 0;
  bool began = false;  // something stands behind the last \n
};

// Appends the lines of `block`, from which what is not text is taken out in place. The block must begin where
// a line begins. Linear.
PhysicalCounts split_lines(std::string& block, std::vector<PhysicalLine>& lines);

// `line` without CSI and OSC sequences, lone ESC and NUL, in place; the new length.
std::size_t remove_escapes(char* line, std::size_t length);

}  // namespace unhang::formats::log
