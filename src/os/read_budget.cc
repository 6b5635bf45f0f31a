// SPDX-License-Identifier: Apache-2.0
#include "os/read_budget.h"

#include <algorithm>
#include <iterator>
#include <new>
#include <stdexcept>

namespace unhang::os {
namespace {

// Small files may compress as well as they like: only what could hurt is a bomb.
constexpr std::uint64_t kHarmlessBytes = 16ull << 20;

}  // namespace

std::optional<Stop> ReadBudget::charge(std::uint64_t expanded_bytes) {
  x_expanded += std::min(expanded_bytes, UINT64_MAX - x_expanded);
  if (x_expanded > x_limits.max_expanded_bytes) {
    x_exhausted = true;
    return Stop{"too_large", "it expands to more than " + bytes_text(x_limits.max_expanded_bytes) +
                                 "; unpack it and give the files that matter"};
  }
  auto bomb = judge_ratio(x_expanded, x_input_bytes);
  x_exhausted = x_exhausted || bomb.has_value();
  return bomb;
}

std::optional<Stop> ReadBudget::count_member() {
  if (++x_members <= x_limits.max_members) return std::nullopt;
  x_exhausted = true;
  return Stop{"too_many_members", "it has more than " + std::to_string(x_limits.max_members) +
                                      " members; unpack it and give the folder that matters"};
}

std::optional<Stop> ReadBudget::judge_ratio(std::uint64_t made, std::uint64_t taken) const {
  if (made <= kHarmlessBytes || made / std::max<std::uint64_t>(taken, 1) <= x_limits.max_expansion_ratio) {
    return std::nullopt;
  }
  return Stop{"bomb",
              "it expands more than " + std::to_string(x_limits.max_expansion_ratio) +
                  "-fold, as a decompression bomb does; if you trust it, unpack it and give the files"};
}

std::string bytes_text(std::uint64_t bytes) {
  static constexpr const char* kUnits[] = {" bytes", " KiB", " MiB", " GiB", " TiB"};
  std::size_t unit = 0;
  while (unit + 1 < std::size(kUnits) && bytes >= 10240) {
    bytes /= 1024;
    ++unit;
  }
  while (unit + 1 < std::size(kUnits) && bytes >= 1024 && bytes % 1024 == 0) {
    bytes /= 1024;
    ++unit;
  }
  return std::to_string(bytes) + kUnits[unit];
}

bool grow_buffer(std::string& buffer, std::size_t used, std::uint64_t size, std::uint64_t most) {
  if (buffer.size() >= size) return true;
  const std::uint64_t doubled = std::min<std::uint64_t>(buffer.size() * 2ull, most);
  const std::uint64_t target = std::max(size, doubled);
  try {
    if (used == 0) std::string().swap(buffer);  // never hold both when there is nothing to keep
    std::string larger;
    larger.reserve(static_cast<std::size_t>(target));
    larger.append(buffer.data(), used);
    larger.resize(static_cast<std::size_t>(target));
    buffer.swap(larger);
  } catch (const std::bad_alloc&) {
    return false;
  } catch (const std::length_error&) {
    return false;
  }
  return true;
}

}  // namespace unhang::os
