// SPDX-License-Identifier: Apache-2.0
//
// What one top-level file may still cost: every byte that decompression makes is charged here, whatever the
// layer, so that no way of nesting gets around the limits.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "os/evidence_reader.h"

namespace unhang::os {

// Why reading ended before its proper end; `code` is one of ReadTrouble's.
struct Stop {
  std::string code;
  std::string text;
};

class ReadBudget {
 public:
  // `input_bytes`: size of the top-level file as it is stored.
  ReadBudget(const ReadLimits& limits, std::uint64_t input_bytes)
      : x_limits(limits), x_input_bytes(input_bytes) {}

  // A value means that the limit of the whole file is passed: nothing more may be read from it.
  [[nodiscard]] std::optional<Stop> charge(std::uint64_t expanded_bytes);
  [[nodiscard]] std::optional<Stop> count_member();
  bool exhausted() const { return x_exhausted; }

  // For one layer or member alone: `made` bytes out of `taken` is no honest compression.
  [[nodiscard]] std::optional<Stop> judge_ratio(std::uint64_t made, std::uint64_t taken) const;

  const ReadLimits& limits() const { return x_limits; }

 private:
  ReadLimits x_limits;
  std::uint64_t x_input_bytes;
  std::uint64_t x_expanded = 0;
  std::uint32_t x_members = 0;
  bool x_exhausted = false;
};

// "4 GiB", "300 KiB", "17 bytes"
std::string bytes_text(std::uint64_t bytes);

// Makes `buffer` at least `size` bytes long, by at least doubling; what lies beyond `used` need not survive.
// Never more than `most` when doubling. False when there is no memory for it (the first `used` bytes are then
// still there).
[[nodiscard]] bool grow_buffer(std::string& buffer, std::size_t used, std::uint64_t size, std::uint64_t most);

}  // namespace unhang::os
