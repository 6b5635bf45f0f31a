// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as RAS answers in JSON: the reader must end, within its limits, without a fault that a sanitizer
// sees, and keep what its values promise.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "formats/ras/promises_for_tests.h"
#include "formats/ras/ras.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;  // read_evidence() never hands an empty file to a reader
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  unhang::formats::Evidence evidence;
  (void)unhang::formats::ras::sniff_json(bytes);
  unhang::formats::ras::parse_json(bytes, evidence);
  if (!unhang::formats::ras::broken_promise(evidence).empty()) __builtin_trap();
  return 0;
}
