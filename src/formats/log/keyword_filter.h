// SPDX-License-Identifier: Apache-2.0
//
// Finds in one pass which of several hundred texts stand in a line, and says to whom they belong. The method
// is that of Wu and Manber (A fast algorithm for multi-pattern searching, 1994): two bytes at the end of a
// window say how far it may be moved; only where they could end a window, four bytes are looked up.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace unhang::formats::log {

class KeywordFilter {
 public:
  // `owner`: 0 to 31. Texts of fewer than 4 bytes are refused (std::invalid_argument): they would stand
  // everywhere. Must not be called after the first owners().
  void add(std::string_view text, unsigned owner);
  // Must be called once, when all texts are there.
  void prepare();

  // A bit for each owner that has a text in `line`. Never touches memory outside of `line`.
  std::uint32_t owners(std::string_view line) const;

 private:
  struct Keyword {
    std::string text;
    std::uint32_t window = 0;  // offset of the four bytes that are looked for
    std::uint32_t owners = 0;
  };
  static constexpr std::size_t kBuckets = 1 << 13;

  std::vector<Keyword> x_keywords;
  std::vector<std::uint8_t> x_shift;  // by the two last bytes of the window
  std::array<std::uint32_t, kBuckets + 1> x_buckets{};
  std::vector<std::uint32_t> x_order;  // keywords, those of one bucket side by side
};

}  // namespace unhang::formats::log
