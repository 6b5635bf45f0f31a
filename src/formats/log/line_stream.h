// SPDX-License-Identifier: Apache-2.0
//
// Cuts the bytes of a log into logical lines: line ends of any kind, colour codes, progress bars, records
// glued together, records that a terminal wrapped, and the prefixes of launchers and collectors, whose data
// (time, host, pid, rank) it keeps. Streaming: memory is bounded by the longest line (cut beyond a bound).
#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "formats/log/facts.h"
#include "formats/log/line.h"

namespace unhang::formats::log {

class LineStream {
 public:
  using OnLine = std::function<void(const Line&)>;
  // Writers go to `facts`, which must outlive this.
  LineStream(Facts& facts, OnLine on_line);
  ~LineStream();
  LineStream(const LineStream&) = delete;
  LineStream& operator=(const LineStream&) = delete;

  // Blocks may end anywhere.
  void feed(std::string_view bytes);
  // Hands out what is left. Nothing may be fed afterwards.
  void finish();

 private:
  class State;
  std::unique_ptr<State> x_state;
};

}  // namespace unhang::formats::log
