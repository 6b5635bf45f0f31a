// SPDX-License-Identifier: Apache-2.0
//
// Sentences that tell a kind by themselves: the words are looked for anywhere in the message, the first of a
// table that stands there counts.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "formats/log/facts.h"

namespace unhang::formats::log {

struct KnownSentence {
  std::string_view words;
  model::LogEventKind kind;  // kCount: known, and tells nothing
  std::int64_t code = 0;
  std::string_view also = {};  // must stand in the message as well
};

// The first that the message holds; nullptr: none.
const KnownSentence* known_sentence(std::span<const KnownSentence> table, std::string_view message);

// Adds its event. False where the message holds none.
bool take_known_sentence(std::span<const KnownSentence> table, const Line& line, Facts& facts);

// The words of all, behind `others`: what a family waits for.
std::vector<std::string_view> words_of_all(std::span<const KnownSentence> table,
                                           std::span<const std::string_view> others);

}  // namespace unhang::formats::log
