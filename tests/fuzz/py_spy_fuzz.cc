// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as text of py-spy: the reader must end without a fault that a sanitizer sees, and keep
// to its bounds.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "formats/stacks/py_spy.h"
#include "formats/stacks/sample_list.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace unhang::formats;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  (void)stacks::sniff_py_spy_text(bytes);
  Evidence evidence;
  stacks::parse_py_spy_text(bytes, evidence);
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
