// SPDX-License-Identifier: Apache-2.0
//
// Sets of ranks for people: "0-3,7" instead of a line of numbers. Works for any ascending integers.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace unhang::base {

// Folds to "0-3,7". Input need not be sorted; duplicates count once. Empty input gives "".
// Runs such as 0,8,16,24 are folded to "0-24 (every 8th)" (at least four members), since tensor- and
// data-parallel groups have that shape.
std::string fold_ranks(std::span<const std::int32_t> ranks);

// Reads what fold_ranks writes, plain lists ("0,1,2"), and the shorter "0-24:8" for command lines. Nullopt
// when the text is not such a list, when a number exceeds 2^31-1, or when it would name more than `limit`
// ranks.
std::optional<std::vector<std::int32_t>> parse_ranks(std::string_view text, std::size_t limit = 1u << 22);

}  // namespace unhang::base
