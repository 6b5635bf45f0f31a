// SPDX-License-Identifier: Apache-2.0
//
// Text for people: wrapping, folding, cutting. Names in evidence come from broken machines and strangers, so
// every function here first makes its text harmless: no control characters, escapes or direction marks reach
// a terminal or a ticket. Widths are terminal columns (a code point is one column, wide East Asian ones two,
// combining ones none).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace unhang::report {

// One harmless line of valid UTF-8: line breaks and tabs become blanks, whatever else a terminal would obey
// is spelled out as "\x1b". Applying it twice changes nothing.
std::string one_line(std::string_view text);

int columns(std::string_view text);

// Lines of at most `width` columns, broken at blanks; a longer word is broken after one of "/,-_.:" where
// there is one in its second half, else anywhere. The first line may be narrower by `taken` columns. Never
// empty.
std::vector<std::string> wrap(std::string_view text, int width, int taken = 0);

// At most `width` columns; what is lost at the end (or, for paths, in front) is shown as "…".
std::string cut(std::string_view text, int width);
std::string cut_front(std::string_view text, int width);

// "0-3,7", and where that is too wide "0-3,7 … (+12 more)". At least the count of ranks is shown.
std::string fold_within(std::span<const std::int32_t> ranks, int width);

// Items joined by `separator`, as many as fit, then " … (+3 more)". The first item is cut rather than left
// out.
std::string join_within(const std::vector<std::string>& items, std::string_view separator, int width);

// "1,023"; "1 rank", "1,023 ranks".
std::string grouped(std::int64_t number);
std::string counted(std::size_t number, std::string_view singular, std::string_view plural);

// Markdown: text in which no character acts as markup, also inside a table; and inline code, which shows
// exactly what one_line gives.
std::string markdown_text(std::string_view text);
std::string markdown_code(std::string_view text, bool in_table = false);

}  // namespace unhang::report
