// SPDX-License-Identifier: Apache-2.0
//
// The speed that a program prints of itself, where it prints one: "1234.5 tokens/s", "3.2it/s", "2.1 s/it",
// "# Avg bus bandwidth : 412.3". For comparing two runs of the same program.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace unhang::base {

struct Throughput {
  double value = 0;
  std::string unit;  // "tokens/s", "samples/s", "it/s", "GB/s busbw"
};

// The last one in the text. Where a line has several, the one that stands last in it. Linear in the text.
std::optional<Throughput> last_throughput(std::string_view text);

}  // namespace unhang::base
