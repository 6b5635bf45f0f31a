// SPDX-License-Identifier: Apache-2.0
//
// Cuts the bytes of a log into logical lines: line ends of any kind, colour codes, progress bars, records
// glued together, records that a terminal wrapped, and the prefixes of launchers and collectors, whose data
// (time, host, pid, rank) it keeps. Streaming: memory is bounded by the longest line (cut beyond a bound).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "formats/log/facts.h"
#include "formats/log/keyword_filter.h"
#include "formats/log/line.h"
#include "formats/log/prepared_block.h"

namespace unhang::formats::log {

class LineStream {
 public:
  // Line::keywords says whose keywords the line holds.
  using OnLine = std::function<void(const Line& line)>;

  // Adds the texts by which glued and wrapped records are found to `filter`. Must be called before prepare().
  static void add_keywords(KeywordFilter& filter);

  // Only lines of NCCL and those with a keyword are handed out, and every line while all_lines(true).
  // Writers, counts of lines, first and last time go to `facts`; `facts` and `filter` must outlive this.
  LineStream(Facts& facts, const KeywordFilter& filter, OnLine on_line);
  ~LineStream();
  LineStream(const LineStream&) = delete;
  LineStream& operator=(const LineStream&) = delete;

  // May be called from inside OnLine: counts from the next line.
  void all_lines(bool wanted);

  // Bytes may end anywhere; the lines that are whole are handed out at once.
  void feed(std::string_view bytes);
  // Instead of bytes: blocks that were prepared with the same filter, in their order. Changes nothing in it.
  void take(const PreparedBlock& block);
  // Hands out what is left. Nothing may be fed or taken afterwards.
  void finish();

 private:
  class State;
  std::unique_ptr<State> x_state;
};

}  // namespace unhang::formats::log
