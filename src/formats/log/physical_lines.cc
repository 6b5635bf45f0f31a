// SPDX-License-Identifier: Apache-2.0
#include "formats/log/physical_lines.h"

#include <cstring>

namespace unhang::formats::log {
namespace {

constexpr char kEscape = '\x1b';

// The next place of one byte in a block; looked up again only when the place is passed, so that a block
// without that byte is searched once.
class NextByte {
 public:
  NextByte(char byte, const char* from, const char* end) : x_byte(byte), x_end(end) { search(from); }
  const char* at(const char* from) {
    if (x_at < from) search(from);
    return x_at;
  }

 private:
  void search(const char* from) {
    const auto left = static_cast<std::size_t>(x_end - from);
    const void* found = left == 0 ? nullptr : std::memchr(from, x_byte, left);
    x_at = found == nullptr ? x_end : static_cast<const char*>(found);
  }

  char x_byte;
  const char* x_end;
  const char* x_at = nullptr;
};

}  // namespace

void remove_escapes(std::string_view line, std::string& into) {
  into.clear();
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\0') continue;
    if (line[i] != kEscape) {
      into += line[i];
      continue;
    }
    if (i + 1 >= line.size()) break;
    if (line[i + 1] == '[') {  // CSI: parameters 0x20 to 0x3f, then one byte from 0x40
      i += 2;
      while (i < line.size() && line[i] >= 0x20 && line[i] <= 0x3f) ++i;
    } else if (line[i + 1] == ']') {  // OSC: up to BEL or ESC backslash
      const std::size_t end = line.find_first_of("\a\x1b", i + 2);
      if (end == std::string_view::npos) break;
      i = line[end] == kEscape ? end + 1 : end;
    } else {
      ++i;
    }
  }
}

void PhysicalLines::feed(std::string_view bytes) {
  const char* at = bytes.data();
  const char* const end = at + bytes.size();
  NextByte newline('\n', at, end), carriage_return('\r', at, end), escape(kEscape, at, end),
      nul('\0', at, end);
  while (at != end) {
    const char* const stop = std::min(newline.at(at), carriage_return.at(at));
    if (stop == end) break;
    const bool escapes = escape.at(at) < stop || nul.at(at) < stop;
    end_segment({at, static_cast<std::size_t>(stop - at)}, escapes, *stop == '\r');
    at = stop + 1;
  }
  if (at != end) keep({at, static_cast<std::size_t>(end - at)});
}

void PhysicalLines::keep(std::string_view rest) {
  x_began = true;
  x_after_carriage_return = false;
  const std::size_t room = kLongest > x_carry.size() ? kLongest - x_carry.size() : 0;
  if (rest.size() > room) x_cut = true;
  x_carry.append(rest.substr(0, room));
}

void PhysicalLines::end_segment(std::string_view segment, bool with_escapes, bool carriage_return) {
  const bool whole = x_carry.empty() && segment.size() <= kLongest;
  const bool only_end = x_after_carriage_return && segment.empty() && x_carry.empty();
  if (!carriage_return && only_end) {  // the \n of \r\n
    x_after_carriage_return = false;
    x_began = false;
    ++x_number;
    return;
  }
  if (whole) {
    give(segment, with_escapes);
  } else {
    keep(segment);
    give(x_carry, true);
    if (x_cut) ++x_cut_lines;
    x_carry.clear();
    x_cut = false;
  }
  x_after_carriage_return = carriage_return;
  x_began = carriage_return;
  if (!carriage_return) ++x_number;
}

void PhysicalLines::give(std::string_view line, bool with_escapes) {
  if (x_first) {
    x_first = false;
    if (line.starts_with("\xef\xbb\xbf")) line.remove_prefix(3);
  }
  if (with_escapes && line.find_first_of(std::string_view("\x1b\0", 2)) != std::string_view::npos) {
    remove_escapes(line, x_cleaned);
    line = x_cleaned;
  }
  x_on_line(line, x_number);
}

void PhysicalLines::finish() {
  if (x_carry.empty()) return;
  give(x_carry, true);
  if (x_cut) ++x_cut_lines;
  x_carry.clear();
}

}  // namespace unhang::formats::log
