// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as the JSON of nccl-tests: the reader must end without a fault that a sanitizer sees, and must
// hand out no more than its header says.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "formats/nccl_tests/nccl_tests.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  (void)unhang::formats::nccl_tests::sniff(bytes);
  unhang::formats::Evidence evidence;
  unhang::formats::nccl_tests::parse(bytes, evidence);
  if (evidence.logs.size() > 1 || evidence.problems.size() > 1) std::abort();
  for (const auto& log : evidence.logs) {
    if (log.bandwidth_runs.size() != 1 || log.bandwidth_runs[0].rows.size() > 4096) std::abort();
  }
  return 0;
}
