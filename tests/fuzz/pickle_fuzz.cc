// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as a pickled dump: the reader must end, within its limits, without a fault that a sanitizer sees.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "formats/flight_recorder/flight_recorder.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  unhang::formats::Evidence evidence;
  unhang::formats::flight_recorder::parse_pickle(bytes, evidence);
  return 0;
}
