// SPDX-License-Identifier: Apache-2.0
#include "base/token_shape.h"

#include <algorithm>
#include <array>

namespace unhang::base {
namespace {

constexpr std::string_view kRemoved = "(removed)";
constexpr std::size_t kAuthorityBytes = 256;  // further away no '@' is looked for
constexpr std::size_t kDigitBytes = 256;      // and no digit of a token

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_capital(char c) {
  return c >= 'A' && c <= 'Z';
}
bool is_alnum(char c) {
  return is_digit(c) || is_capital(c) || (c >= 'a' && c <= 'z');
}
bool is_word(char c) {
  return is_alnum(c) || c == '_' || c == '-';
}
bool is_capital_or_digit(char c) {
  return is_capital(c) || is_digit(c);
}
bool is_bearer(char c) {  // RFC 6750, token68
  return is_alnum(c) || std::string_view("-._~+/=").find(c) != std::string_view::npos;
}

bool has_digit(std::string_view text, bool (*part)(char)) {
  const auto end = std::find_if_not(text.begin(), text.end(), part);
  return std::any_of(text.begin(), end, is_digit);
}

struct Shape {
  std::string_view prefix;
  bool (*part)(char);
  std::size_t least;  // bytes behind the prefix
  bool needs_digit;
};

// As their issuers document them: Hugging Face 34 behind "hf_", GitHub 36 behind "ghp_" and 82 behind
// "github_pat_", AWS 16 behind "AKIA"; less is asked for, for tokens that were cut.
constexpr std::array<Shape, 14> kShapes{{{"hf_", is_alnum, 16, false},
                                         {"sk-", is_word, 16, true},
                                         {"ghp_", is_alnum, 16, false},
                                         {"gho_", is_alnum, 16, false},
                                         {"ghu_", is_alnum, 16, false},
                                         {"ghs_", is_alnum, 16, false},
                                         {"ghr_", is_alnum, 16, false},
                                         {"github_pat_", is_word, 16, false},
                                         {"AKIA", is_capital_or_digit, 12, true},
                                         {"ASIA", is_capital_or_digit, 12, true},
                                         {"xoxa-", is_word, 8, true},
                                         {"xoxb-", is_word, 8, true},
                                         {"xoxp-", is_word, 8, true},
                                         {"xoxs-", is_word, 8, true}}};

template <typename Part>
std::size_t run_end(std::string_view line, std::size_t at, Part part) {
  while (at < line.size() && part(line[at])) ++at;
  return at;
}

Removal by_prefix(std::string_view line, std::size_t at) {
  const std::string_view rest = line.substr(at);
  for (const Shape& shape : kShapes) {
    if (!rest.starts_with(shape.prefix)) continue;
    const std::size_t from = at + shape.prefix.size();
    if (run_end(line.substr(0, from + shape.least), from, shape.part) - from < shape.least) continue;
    const std::size_t end = from + shape.least;
    if (shape.needs_digit && !has_digit(line.substr(from, kDigitBytes), shape.part)) continue;
    return {at, run_end(line, end, is_word), std::string(kRemoved)};
  }
  return {};
}

// A JWT: JSON in base64 begins with "eyJ"; two or three parts.
Removal web_token(std::string_view line, std::size_t at) {
  // Behind '-' it would be looked for anew at each place of one long word.
  if (!line.substr(at).starts_with("eyJ") || (at > 0 && line[at - 1] == '-')) return {};
  const std::size_t dot = run_end(line, at, is_word);
  if (dot - at < 10 || dot == line.size() || line[dot] != '.') return {};
  const std::size_t end = run_end(line, dot, [](char c) { return is_word(c) || c == '.'; });
  if (end - dot < 9) return {};
  return {at, end, std::string(kRemoved)};
}

Removal bearer(std::string_view line, std::size_t at) {
  const std::string_view word = line.substr(at, 7);
  if (word != "Bearer " && word != "bearer " && word != "BEARER ") return {};
  const std::size_t end = run_end(line, at + 7, is_bearer);
  const std::string_view value = line.substr(at + 7, end - at - 7);
  // "bearer authentication" is no token.
  const bool is_prose = std::all_of(value.begin(), value.end(), [](char c) { return c >= 'a' && c <= 'z'; });
  if (value.size() < 8 || (is_prose && value.size() < 20)) return {};
  return {at + 7, end, std::string(kRemoved)};
}

// "://user:password@host". A port is all digits; what is not may hold '/' that nobody escaped.
Removal password_of_address(std::string_view line, std::size_t at) {
  if (!line.substr(at).starts_with("://")) return {};
  const std::string_view rest = line.substr(at + 3, kAuthorityBytes);
  const std::size_t colon = rest.find_first_of(":/@?#[ \t\"'<>(");
  if (colon == std::string_view::npos || rest[colon] != ':') return {};
  const std::string_view behind = rest.substr(colon + 1, rest.find_first_of(" \t\"'<>", colon) - colon - 1);
  if (behind.starts_with("(removed)@")) return {};
  const std::size_t digits = run_end(behind, 0, is_digit);
  if (digits == behind.size() || behind[digits] == '/' || behind[digits] == '?') return {};
  const std::size_t slash = behind.find('/');
  std::size_t end = behind.substr(0, slash).rfind('@');
  if (end == std::string_view::npos) end = behind.find('@');
  if (end == std::string_view::npos || end == 0) return {};
  const std::size_t from = at + 3 + colon + 1;
  return {from, from + end, std::string(kRemoved)};
}

}  // namespace

Removal password_at(std::string_view line, std::size_t at) {
  const std::string_view rest = line.substr(std::min(at, line.size()), kAuthorityBytes);
  const std::string_view word = rest.substr(0, rest.find_first_of(" \t\"'<>()[],;"));
  const std::size_t colon = word.find_first_of(":/@");
  if (colon == std::string_view::npos || colon == 0 || word[colon] != ':') return {};
  const std::size_t sign = word.rfind('@');
  if (sign == std::string_view::npos || sign <= colon + 1 || sign + 1 == word.size()) return {};
  if (word.substr(colon).starts_with("://") || !is_alnum(word[sign + 1])) return {};
  return {at + colon + 1, at + sign, std::string(kRemoved)};
}

Removal token_at(std::string_view line, std::size_t at) {
  switch (line[at]) {
    case ':':
      return password_of_address(line, at);
    case 'h':
    case 's':
    case 'g':
    case 'A':
    case 'x':
    case 'e':
    case 'b':
    case 'B':
      break;
    default:
      return {};
  }
  if (at > 0 && (is_alnum(line[at - 1]) || line[at - 1] == '_')) return {};
  if (line[at] == 'e') return web_token(line, at);
  if (line[at] == 'b' || line[at] == 'B') return bearer(line, at);
  return by_prefix(line, at);
}

}  // namespace unhang::base
