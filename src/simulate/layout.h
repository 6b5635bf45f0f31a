// SPDX-License-Identifier: Apache-2.0
//
// Which rank is where, and who its groups are, in the order that training frameworks use: tensor-parallel
// neighbours first, then data-parallel, then pipeline stages: rank = tensor + T * (data + D * stage).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace unhang::simulate {

// The kinds of groups; a rank is in at most one of each.
enum class Slot : std::uint8_t { kWorld, kTensor, kPipeline, kData };
constexpr std::size_t kSlotCount = 4;
constexpr std::array<Slot, kSlotCount> kSlots = {Slot::kWorld, Slot::kTensor, Slot::kPipeline, Slot::kData};

std::string_view description_of(Slot slot);  // "default_pg", "tp", …

class Layout {
 public:
  // A usage error where the sizes do not multiply to `ranks`.
  static base::Result<Layout> make(std::int32_t ranks, std::int32_t tensor, std::int32_t pipeline);

  std::int32_t ranks() const { return x_ranks; }
  std::int32_t tensor() const { return x_tensor; }
  std::int32_t data() const { return x_data; }
  std::int32_t pipeline() const { return x_pipeline; }

  std::int32_t stage(std::int32_t rank) const { return rank / (x_tensor * x_data); }
  std::int32_t next_stage(std::int32_t rank) const { return rank + x_tensor * x_data; }
  std::int32_t previous_stage(std::int32_t rank) const { return rank - x_tensor * x_data; }

  // Groups of one member are not made, except for the world.
  bool has(Slot slot) const { return slot == Slot::kWorld || size(slot) > 1; }
  std::int32_t size(Slot slot) const;

  // Groups are numbered over the whole job, the world first; the number is the group's name in the dumps.
  std::int32_t group_count() const { return x_group_count; }
  std::int32_t group_of(std::int32_t rank, Slot slot) const;
  std::int32_t rank_in_group(std::int32_t rank, Slot slot) const;
  std::vector<std::int32_t> members(std::int32_t rank, Slot slot) const;

 private:
  Layout() = default;

  std::int32_t x_ranks = 1;
  std::int32_t x_tensor = 1;
  std::int32_t x_data = 1;
  std::int32_t x_pipeline = 1;
  std::int32_t x_group_count = 1;
  std::array<std::int32_t, kSlotCount> x_first_group = {};
};

}  // namespace unhang::simulate
