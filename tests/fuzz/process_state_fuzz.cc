// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as a list of processes: the reader must end without a fault that a sanitizer sees, and what it
// read must come back the same when it is written and read again.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "formats/stacks/process_state.h"

using unhang::formats::Evidence;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  (void)unhang::formats::stacks::sniff_process_state(bytes);
  Evidence evidence;
  unhang::formats::stacks::parse_process_state(bytes, evidence);
  const std::string text = unhang::formats::stacks::process_state_json(evidence.process_samples, "host", 1);
  Evidence again;
  unhang::formats::stacks::parse_process_state(text, again);
  if (again.process_samples.size() != evidence.process_samples.size()) std::abort();
  for (std::size_t i = 0; i < again.process_samples.size(); ++i) {
    if (again.process_samples[i].pid != evidence.process_samples[i].pid) std::abort();
    if (again.process_samples[i].threads.size() != evidence.process_samples[i].threads.size()) std::abort();
  }
  return 0;
}
