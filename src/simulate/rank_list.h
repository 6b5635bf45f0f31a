// SPDX-License-Identifier: Apache-2.0
//
// Ranks as pg_config spells them: one string, "[0, 1, 2]".
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace unhang::simulate {

inline std::string rank_list(std::span<const std::int32_t> ranks) {
  std::string out = "[";
  for (const std::int32_t rank : ranks) {
    if (out.size() > 1) out += ", ";
    out += std::to_string(rank);
  }
  return out + "]";
}

}  // namespace unhang::simulate
