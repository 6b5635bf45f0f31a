// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as dumps of faulthandler: the reader must end without a fault that a sanitizer sees, and keep
// to its bounds.
#include <cstddef>
#include <cstdint>

#include "formats/stacks/bounds_for_tests.h"
#include "formats/stacks/faulthandler.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace unhang::formats::stacks;
  return read_stacks(data, size, sniff_faulthandler, parse_faulthandler);
}
