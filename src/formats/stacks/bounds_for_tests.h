// SPDX-License-Identifier: Apache-2.0
//
// What every reader of stacks promises, whatever bytes it is given.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "formats/evidence.h"
#include "formats/stacks/sample_list.h"

// Sniffs and parses, and aborts where a bound is broken.
inline int read_stacks(const std::uint8_t* data, std::size_t size, bool (*sniff)(std::string_view),
                       void (*parse)(std::string_view, unhang::formats::Evidence&)) {
  using namespace unhang::formats;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  (void)sniff(bytes);
  Evidence evidence;
  parse(bytes, evidence);
  for (const auto& process : evidence.process_samples) {
    for (const auto& thread : process.threads) {
      if (thread.frames.size() > 2 * stacks::kMaxFramesOfThread) std::abort();
      for (const auto& frame : thread.frames) {
        if (frame.function.size() > stacks::kMaxName || frame.line < 0) std::abort();
      }
    }
  }
  return 0;
}
