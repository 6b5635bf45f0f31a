// SPDX-License-Identifier: Apache-2.0
//
// Bytes to lines: ends of \n, \r\n and lone \r (a progress bar overwrites itself: what it wrote last stands
// in front of the next record), colour codes and NULs taken out, lines beyond a bound cut.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace unhang::formats::log {

class PhysicalLines {
 public:
  static constexpr std::size_t kLongest = 64 * 1024;
  // The number counts \n only, from 1. The view is valid during the call.
  using OnLine = std::function<void(std::string_view line, std::uint64_t number)>;
  explicit PhysicalLines(OnLine on_line) : x_on_line(std::move(on_line)) {}

  // Blocks may end anywhere.
  void feed(std::string_view bytes);
  void finish();

  std::uint64_t lines() const { return x_number - 1 + (x_began ? 1 : 0); }
  std::uint64_t cut_lines() const { return x_cut_lines; }

 private:
  void end_segment(std::string_view segment, bool with_escapes, bool carriage_return);
  void keep(std::string_view rest);
  void give(std::string_view line, bool with_escapes);

  OnLine x_on_line;
  std::string x_carry;    // the beginning of a line whose end is not there yet
  std::string x_cleaned;  // a line without its colour codes
  std::uint64_t x_number = 1;
  std::uint64_t x_cut_lines = 0;
  bool x_cut = false;                    // the line in x_carry is beyond the bound
  bool x_after_carriage_return = false;  // a \n that follows at once ends no other line
  bool x_began = false;                  // something stands behind the last \n
  bool x_first = true;                   // a byte order mark may come
};

// `line` without CSI and OSC sequences, lone ESC and NUL.
void remove_escapes(std::string_view line, std::string& into);

}  // namespace unhang::formats::log
