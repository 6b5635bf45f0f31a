// SPDX-License-Identifier: Apache-2.0
//
// What can be said of the lines of a block without knowing those in front of it: where they are, their
// prefixes, which keywords they hold. That is most of the work, and blocks can be prepared side by side.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "formats/log/communicator_line.h"
#include "formats/log/keyword_filter.h"
#include "formats/log/keyword_owners.h"
#include "formats/log/physical_lines.h"
#include "formats/log/prefix.h"
#include "formats/log/prefix_memo.h"

namespace unhang::formats::log {

struct PreparedBlock {
  struct Line {
    std::uint32_t index = 0;   // into `lines`
    KeywordBits keywords = 0;  // of its message
    Prefix prefix;             // no node was known
    std::uint64_t writer = 0;  // writer_hash() of the prefix
    CallLine call;             // pointer 0: the message is none, or not of the usual shape
  };
  // What is worth knowing of the lines that nobody asked for.
  enum Trait : std::uint8_t {
    kHasPrefix = 1,
    kHasTime = 2,
    kHasWords = 4,  // they may be the last words of the log
    kAsksNode = 8,  // the prefix is another where the name in front is a node's
    kDull = 16      // NCCL's own, of no use to anybody: counted as recognised
  };

  std::string text;
  std::vector<PhysicalLine> lines;
  std::vector<std::uint8_t> traits;  // of each line
  std::vector<Line> prepared;        // those that must be looked at one by one
  PhysicalCounts counts;
  PrefixMemo prefixes;
  std::vector<std::uint64_t> writers;  // hashes of those whose dull lines need not be looked at again

  std::string_view line(std::size_t index) const {
    return std::string_view(text).substr(lines[index].begin, lines[index].length);
  }
};

// Fills everything from `block.text`. `all`: every line will be asked for.
void prepare(PreparedBlock& block, const KeywordFilter& filter, bool all = false);

}  // namespace unhang::formats::log
