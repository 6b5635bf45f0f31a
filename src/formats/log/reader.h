// SPDX-License-Identifier: Apache-2.0
//
// Reads one log file as a stream: lines to families to facts. Memory: a few MB and the facts found.
#pragma once

#include <memory>
#include <string_view>

#include "model/log.h"

namespace unhang::formats::log {

class LogReader {
 public:
  // `threads`: how many may work on it at once. The result does not depend on it.
  explicit LogReader(unsigned threads = 1);
  ~LogReader();
  LogReader(const LogReader&) = delete;
  LogReader& operator=(const LogReader&) = delete;

  // Blocks may end anywhere; the result does not depend on where.
  void feed(std::string_view bytes);
  // Must be called once, last.
  model::Log finish();

 private:
  class State;
  std::unique_ptr<State> x_state;
};

}  // namespace unhang::formats::log
