// SPDX-License-Identifier: Apache-2.0
//
// From a line's prefix to the number of its writer, without allocating when the writer was seen lately.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "formats/log/facts.h"
#include "formats/log/prefix.h"

namespace unhang::formats::log {

// Tells writers apart: the same for the same writer. Of long names only the end counts.
std::uint64_t writer_hash(const Prefix& prefix);

class Writers {
 public:
  // `facts` must outlive this.
  explicit Writers(Facts& facts) : x_facts(facts), x_slots(kSlots, kNobody) {}
  // `hash`: writer_hash() of `prefix`.
  std::uint32_t of(const Prefix& prefix, std::uint64_t hash);

 private:
  static constexpr std::size_t kSlots = 4096;
  static constexpr std::uint32_t kNobody = ~0u;

  Facts& x_facts;
  std::vector<std::uint32_t> x_slots;  // index of a writer that may be the one
};

}  // namespace unhang::formats::log
