// SPDX-License-Identifier: Apache-2.0
//
// Numbers, ranks and lists of ranks behind the words of a message, and the event that is made of them
// (sentence.h finds the words). Nothing is allocated unless a value is copied out.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/log/line.h"
#include "formats/log/sentence.h"
#include "model/log_event.h"

namespace unhang::formats::log {

struct Number {
  std::int64_t value = 0;
  std::string_view rest;  // behind its last digit
};

// A decimal number at the beginning, behind blanks; a '-' may stand before it. Nullopt when there is none or
// it has more than 18 digits.
std::optional<Number> number_at(std::string_view text);

// The number behind the first `mark`, or `otherwise`.
std::int64_t number_after(std::string_view text, std::string_view mark, std::int64_t otherwise = -1);

// The same as a rank: -1 where there is none, or where no job has such a rank.
std::int32_t rank_after(std::string_view text, std::string_view mark);

// All numbers of "[1, 2]" or "1,2" until a character that does not belong to such a list, as fold_ranks
// writes them; "" when there is none. At most 65536 are taken.
std::string folded_ranks(std::string_view text);

// Whether the line shows what a user sent (vLLM's and SGLang's request logs): nothing of it may be taken for
// a message, and none of it kept.
bool quotes_request(const Line& line);
std::span<const OwnedKeyword> request_keywords();

// An event of which only these are set. `detail` and `subject` are made printable and cut at 200 characters.
model::LogEvent event_of(model::LogEventKind kind, std::int64_t code = 0, std::int32_t rank = -1,
                         std::string_view detail = {}, std::string_view subject = {},
                         std::string_view peer = {});

}  // namespace unhang::formats::log
