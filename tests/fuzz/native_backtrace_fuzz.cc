// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as native stacks: the reader must end without a fault that a sanitizer sees, and keep
// to its bounds.
#include <cstddef>
#include <cstdint>

#include "formats/stacks/bounds_for_tests.h"
#include "formats/stacks/native_backtrace.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace unhang::formats::stacks;
  return read_stacks(data, size, sniff_backtrace, parse_backtrace);
}
