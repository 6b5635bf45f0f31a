// SPDX-License-Identifier: Apache-2.0
#include "base/pseudonym.h"

#include <array>

#include "base/ascii_class.h"
#include "base/sha256.h"

namespace unhang::base {
namespace {

constexpr std::string_view kAlphabet = "abcdefghijklmnopqrstuvwxyz234567";
constexpr std::size_t kHashed = 6;  // characters, 5 bits each
constexpr std::array<std::string_view, 8> kWords{"host", "domain", "addr", "mac",
                                                 "guid", "gpu",    "user", "name"};

// Odd weights: any one character that differs gives another check.
char check_of(std::string_view hashed) {
  std::size_t sum = 19;
  for (std::size_t i = 0; i < hashed.size(); ++i) sum += (2 * i + 3) * kAlphabet.find(hashed[i]);
  return kAlphabet[sum % kAlphabet.size()];
}

unsigned hex_value(char c) {
  return static_cast<unsigned>(is_digit(c) ? c - '0' : c - 'a' + 10);
}

}  // namespace

std::string pseudonym(NameKind kind, std::string_view key, std::string_view name) {
  const std::string_view word = kWords[static_cast<std::size_t>(kind)];
  Sha256 sum;
  sum.add("unhang pseudonym 1\n");
  sum.add(std::to_string(key.size()));  // no end of a key can be taken for the beginning of a name
  sum.add("\n");
  sum.add(key);
  sum.add(word);
  sum.add("\n");
  sum.add(lower_case(name));
  const std::string hex = sum.hex();
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < 8; ++i) bits = bits << 4U | hex_value(hex[i]);
  std::string hashed;
  for (std::size_t i = 0; i < kHashed; ++i, bits >>= 5U) hashed += kAlphabet[bits & 31U];
  return std::string(word) + "-" + hashed + check_of(hashed);
}

std::size_t pseudonym_at(std::string_view text, std::size_t at) {
  for (const std::string_view word : kWords) {
    const std::size_t begin = at + word.size() + 1, end = begin + kHashed + 1;
    if (end > text.size() || text.substr(at, word.size()) != word || text[begin - 1] != '-') continue;
    if (end < text.size() && is_alphanumeric(text[end])) continue;
    const std::string_view hashed = text.substr(begin, kHashed);
    if (hashed.find_first_not_of(kAlphabet) != std::string_view::npos) continue;
    if (text[end - 1] == check_of(hashed)) return end - at;
  }
  return 0;
}

}  // namespace unhang::base
