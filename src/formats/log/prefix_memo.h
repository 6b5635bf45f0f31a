// SPDX-License-Identifier: Apache-2.0
//
// The prefixes of NCCL's INFO, remembered by their text: a process prints the same bytes in front of each of
// its lines, so that nearly all of them need no reading. Says exactly what read_prefix() says.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "formats/log/prefix.h"

namespace unhang::formats::log {

class PrefixMemo {
 public:
  PrefixMemo() : x_slots(kSlots) {}
  // As read_prefix() while no node is known. Views into `line`. `writer`: writer_hash() of it where it was
  // remembered, else 0.
  Prefix read(std::string_view line, std::uint64_t& writer);

 private:
  static constexpr std::size_t kSlots = 512;
  struct Slot {
    std::string text;
    Prefix prefix;  // views into `text`
    std::uint64_t writer = 0;
  };
  std::vector<Slot> x_slots;
};

}  // namespace unhang::formats::log
