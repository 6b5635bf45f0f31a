// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as an engine's metric page: the reader must end, within its limits, without a fault that a
// sanitizer sees.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "formats/engine_metrics/engine_metrics.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;  // read_evidence() never hands an empty file to a reader
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  unhang::formats::Evidence evidence;
  unhang::formats::engine_metrics::sniff(bytes);
  unhang::formats::engine_metrics::parse(bytes, evidence);
  return 0;
}
