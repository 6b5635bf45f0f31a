// SPDX-License-Identifier: Apache-2.0
//
// Dumps of faulthandler among the lines of a log, which may be larger than memory: watches for their first
// line and reads from there on.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "formats/evidence.h"
#include "formats/stacks/faulthandler.h"

namespace unhang::formats::stacks {

class EmbeddedStacks {
 public:
  // The next block, which may end anywhere. Costs one search for a sign while there are no stacks.
  void feed(std::string_view bytes);
  // Adds what was found. Once, last.
  void finish(Evidence& evidence);

 private:
  void line(std::string_view text);

  Evidence x_found;
  FaulthandlerReader x_reader{x_found};
  std::string x_open;  // the line whose end is not there yet
  bool x_reading = false;
  std::size_t x_foreign = 0;  // lines since the last one of a stack
};

}  // namespace unhang::formats::stacks
