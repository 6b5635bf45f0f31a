// SPDX-License-Identifier: Apache-2.0
//
// Python tracebacks, of several processes at once: from "Traceback (most recent call last):" to the line with
// the exception. Of chained exceptions ("During handling of the above exception …") the first is the cause;
// the others are not told.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "formats/log/facts.h"

namespace unhang::formats::log {

class Tracebacks {
 public:
  bool take(const Line& line, Facts& facts);
  bool open() const { return x_open > 0; }

 private:
  struct State {
    int lines_left = 0;  // of an open traceback
    bool quiet = false;  // of this one the exception is no news
    bool quiet_next = false;
  };
  State* state_of(std::uint32_t origin);
  void close(State& state);

  std::unordered_map<std::uint32_t, State> x_states;  // by writer
  int x_open = 0;
};

}  // namespace unhang::formats::log
