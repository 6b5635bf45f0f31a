// SPDX-License-Identifier: Apache-2.0
//
// "Did you mean …?": the words of a list that are near to a mistyped one.
#pragma once

#include <span>
#include <string_view>
#include <vector>

namespace unhang::base {

// The smallest number of letters to insert, delete, replace or swap with a neighbour that turns one into the
// other.
std::size_t edit_distance(std::string_view from, std::string_view to);

// At most `limit` of `words` that `typed` may have meant, nearest first, then in the order of the list. A
// word is near when a third of the longer one would have to change at most, or when one is the beginning of
// the other.
std::vector<std::string_view> similar_words(std::string_view typed, std::span<const std::string_view> words,
                                            std::size_t limit = 3);

}  // namespace unhang::base
