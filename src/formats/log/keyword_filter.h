// SPDX-License-Identifier: Apache-2.0
//
// Finds in one pass which of several hundred texts stand in a line, and says to whom they belong. Two windows
// of four bytes stand for each text, one of them an odd number of bytes behind the other: wherever the text
// stands, one of them begins at an even place of the line, and only those are looked at. There one bit says
// whether any window has these four bytes (a Bloom filter with one function); and only where it does texts
// are compared. The places do not depend on each other, so that a processor looks at several at once.
#pragma once

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
    std::uint64_t owners = 0;
  };
  // Four bytes of a keyword that may be met at an even place.
  struct Window {
    std::uint32_t bytes = 0;
    std::uint32_t last = 0;    // the last four of the keyword: compared before the whole
    std::uint32_t before = 0;  // bytes of the keyword in front of the window
    std::uint32_t keyword = 0;
  };
  static constexpr unsigned kHashBits = 18, kBucketBits = 12;
  static constexpr std::size_t kBuckets = std::size_t{1} << kBucketBits;

  // Knuth's multiplicative hashing. Here, so that it is no call: it is asked for every second byte of a log.
  static std::uint32_t hash_of(std::uint32_t bytes) { return bytes * 2654435761u >> (32 - kHashBits); }
  // Of its upper bits: in those the last of the four bytes counts as well.
  static std::size_t bucket_of(std::uint32_t hash) { return hash >> (kHashBits - kBucketBits); }
  void unite_same_keywords();
  bool may_begin(std::uint32_t hash) const { return (x_bits[hash >> 6] >> (hash & 63u) & 1u) != 0; }
  std::uint64_t found_at(std::string_view line, std::size_t at, std::uint32_t bytes) const;

  std::vector<Keyword> x_keywords;
  std::vector<std::uint64_t> x_bits;     // by the hash of four bytes
  std::vector<std::uint32_t> x_buckets;  // where the windows of each begin
  std::vector<Window> x_windows;         // those of one bucket side by side
};

}  // namespace unhang::formats::log
