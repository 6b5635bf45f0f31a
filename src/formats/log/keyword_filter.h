// SPDX-License-Identifier: Apache-2.0
//
// Finds in one pass which of several hundred texts stand in a line, and says to whom they belong. Of each
// text the four bytes that are rarest in logs stand for it. At every place of the line a table says whether
// any text has the first two of them; then one bit whether any has all four (a Bloom filter with one
// function); and only there texts are compared. The places do not depend on each other, so that a processor
// looks at several at once.
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
  // `owner`: 0 to 63. Texts of fewer than 4 bytes are refused (std::invalid_argument): they would stand
  // everywhere. Must not be called after the first owners().
  void add(std::string_view text, unsigned owner);
  // Must be called once, when all texts are there.
  void prepare();

  // A bit for each owner that has a text in `line`. Never touches memory outside of `line`.
  std::uint64_t owners(std::string_view line) const;

 private:
  struct Keyword {
    std::string text;
    std::uint32_t window = 0;  // offset of the four bytes that are looked for
    std::uint64_t owners = 0;
  };
  static constexpr std::size_t kBits = 1 << 16, kBuckets = 1 << 13;

  bool may_begin(std::uint32_t hash) const { return (x_bits[hash >> 6] >> (hash & 63u) & 1u) != 0; }
  std::uint64_t found_at(std::string_view line, std::size_t at, std::uint32_t hash,
                         std::uint64_t known) const;

  std::vector<Keyword> x_keywords;
  std::vector<std::uint8_t> x_pairs;               // by two bytes; 1: some text's four begin so
  std::array<std::uint64_t, kBits / 64> x_bits{};  // by the hash of four bytes
  std::array<std::uint32_t, kBuckets + 1> x_buckets{};
  std::vector<std::uint32_t> x_order;  // keywords, those of one bucket side by side
};

}  // namespace unhang::formats::log
