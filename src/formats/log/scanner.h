// SPDX-License-Identifier: Apache-2.0
//
// Reads a line from left to right without allocating. Every function moves on only when it succeeds.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace unhang::formats::log {

class Scanner {
 public:
  explicit Scanner(std::string_view text) : x_text(text) {}

  std::string_view rest() const { return x_text.substr(x_at); }
  std::size_t at() const { return x_at; }
  void move_to(std::size_t at) { x_at = at < x_text.size() ? at : x_text.size(); }
  bool at_end() const { return x_at >= x_text.size(); }
  char peek(std::size_t ahead = 0) const {
    return x_at + ahead < x_text.size() ? x_text[x_at + ahead] : '\0';
  }

  bool take(char byte) {
    if (peek() != byte || at_end()) return false;
    ++x_at;
    return true;
  }
  // A template, so that the length is a constant: a comparison of a few bytes is then no call.
  template <std::size_t kSize>
  bool take(const char (&literal)[kSize]) {
    if (!stands_here(literal)) return false;
    x_at += kSize - 1;
    return true;
  }
  bool take(std::string_view literal) {
    if (!rest().starts_with(literal)) return false;
    x_at += literal.size();
    return true;
  }
  template <std::size_t kSize>
  bool stands_here(const char (&literal)[kSize]) const {
    return x_text.size() - x_at >= kSize - 1 && std::memcmp(x_text.data() + x_at, literal, kSize - 1) == 0;
  }
  void blanks() {
    while (!at_end() && (x_text[x_at] == ' ' || x_text[x_at] == '\t')) ++x_at;
  }
  // Between `least` and `most` digits; a longer run is no success. `most` at most 18.
  bool digits(std::size_t least, std::size_t most, std::int64_t& value) {
    const char* const begin = x_text.data() + x_at;
    const char* const stop = begin + std::min(x_text.size() - x_at, most + 1);
    const char* at = begin;
    std::int64_t sum = 0;
    for (; at != stop && *at >= '0' && *at <= '9'; ++at) sum = sum * 10 + (*at - '0');
    const auto n = static_cast<std::size_t>(at - begin);
    if (n < least || n > most) return false;
    x_at += n;
    value = sum;
    return true;
  }
  // An optional minus sign in front.
  bool number(std::int64_t& value) {
    const std::size_t before = x_at;
    const bool minus = take('-');
    if (!digits(1, 18, value)) {
      x_at = before;
      return false;
    }
    if (minus) value = -value;
    return true;
  }
  // "0x55cc", "55cc".
  bool hex(std::uint64_t& value) {
    std::size_t n = peek() == '0' && (peek(1) == 'x' || peek(1) == 'X') ? 2 : 0;
    const std::size_t first = n;
    std::uint64_t sum = 0;
    for (;; ++n) {
      const char c = peek(n);
      int digit = -1;
      if (c >= '0' && c <= '9') digit = c - '0';
      if (c >= 'a' && c <= 'f') digit = c - 'a' + 10;
      if (c >= 'A' && c <= 'F') digit = c - 'A' + 10;
      if (digit < 0) break;
      if (n - first >= 16) return false;
      sum = (sum << 4) | static_cast<std::uint64_t>(digit);
    }
    if (n == first) return false;
    x_at += n;
    value = sum;
    return true;
  }
  // Up to one of `stops` or the end; may be empty.
  std::string_view until(std::string_view stops) {
    // A loop of its own: find_first_of() calls memchr() for every byte.
    std::size_t end = x_at;
    while (end < x_text.size() && !stands_in(stops, x_text[end])) ++end;
    const std::string_view word = x_text.substr(x_at, end - x_at);
    x_at = end;
    return word;
  }
  std::string_view word() { return until(" \t"); }
  // Moves behind the next `literal`; false, and nothing moved, when there is none.
  bool skip_past(std::string_view literal) {
    const std::size_t found = x_text.find(literal, x_at);
    if (found == std::string_view::npos) return false;
    x_at = found + literal.size();
    return true;
  }

 private:
  static bool stands_in(std::string_view set, char byte) {
    for (const char c : set) {
      if (c == byte) return true;
    }
    return false;
  }

  std::string_view x_text;
  std::size_t x_at = 0;
};

}  // namespace unhang::formats::log
