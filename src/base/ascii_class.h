// SPDX-License-Identifier: Apache-2.0
//
// Classes of ASCII characters, whatever the locale is.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace unhang::base {

constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
constexpr bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
constexpr bool is_alphanumeric(char c) {
  return is_digit(c) || is_letter(c);
}
constexpr bool is_hex_digit(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}
constexpr char to_lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}
inline std::string lower_case(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), to_lower);
  return out;
}
// `word` is in small letters.
inline bool equals_any_case(std::string_view text, std::string_view word) {
  return text.size() == word.size() &&
         std::equal(text.begin(), text.end(), word.begin(), [](char t, char w) { return to_lower(t) == w; });
}
inline std::size_t digits_at_end(std::string_view text) {
  std::size_t count = 0;
  while (count < text.size() && is_digit(text[text.size() - 1 - count])) ++count;
  return count;
}

}  // namespace unhang::base
