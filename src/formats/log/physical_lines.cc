// SPDX-License-Identifier: Apache-2.0
#include "formats/log/physical_lines.h"

#include <algorithm>
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

std::size_t remove_escapes(char* line, std::size_t length) {
  const std::string_view text(line, length);
  std::size_t to = 0;
  for (std::size_t i = 0; i < length; ++i) {
    if (text[i] == '\0') continue;
    if (text[i] != kEscape) {
      line[to++] = text[i];
      continue;
    }
    if (i + 1 >= length) break;
    if (text[i + 1] == '[') {  // CSI: parameters 0x20 to 0x3f, then one byte from 0x40
      i += 2;
      while (i < length && text[i] >= 0x20 && text[i] <= 0x3f) ++i;
    } else if (text[i + 1] == ']') {  // OSC: up to BEL or ESC backslash
      const std::size_t end = text.find_first_of("\a\x1b", i + 2);
      if (end == std::string_view::npos) break;
      i = text[end] == kEscape ? end + 1 : end;
    } else {
      ++i;
    }
  }
  return to;
}

PhysicalCounts split_lines(std::string& block, std::vector<PhysicalLine>& lines) {
  PhysicalCounts counts;
  char* const begin = block.data();
  const char* at = begin;
  const char* const end = begin + block.size();
  NextByte newline('\n', at, end), carriage_return('\r', at, end), escape(kEscape, at, end),
      nul('\0', at, end);
  bool after_carriage_return = false;
  while (at != end) {
    const char* const stop = std::min(newline.at(at), carriage_return.at(at));
    const bool half_end = stop == at && after_carriage_return && stop != end && *stop == '\n';
    if (!half_end) {  // else the \n of \r\n, which ends no other line
      auto length = static_cast<std::size_t>(stop - at);
      if (length > kLongestLine) {
        ++counts.cut_lines;
        length = kLongestLine;
      }
      char* const line = begin + (at - begin);
      if (escape.at(at) < stop || nul.at(at) < stop) length = remove_escapes(line, length);
      lines.push_back({.begin = static_cast<std::uint32_t>(at - begin),
                       .length = static_cast<std::uint32_t>(length),
                       .number = static_cast<std::uint32_t>(counts.newlines)});
    }
    if (stop == end) break;
    after_carriage_return = *stop == '\r';
    if (!after_carriage_return) ++counts.newlines;
    at = stop + 1;
  }
  counts.began = !block.empty() && block.back() != '\n';
  return counts;
}

}  // namespace unhang::formats::log
