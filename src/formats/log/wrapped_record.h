// SPDX-License-Identifier: Apache-2.0
//
// Records that a terminal or a paste cut in two: known by a beginning whose end is missing.
#pragma once

#include <string>
#include <string_view>

namespace unhang::formats::log {

// How far a wrapped record goes at most, in lines.
inline constexpr int kWrappedLines = 6;

// Whether `line` begins a record of a known shape whose end is not there.
bool is_unfinished(std::string_view line);

// Appends the next line to `record`: without a blank where a word or number was cut, with one where the line
// was broken between words.
void join_wrapped(std::string& record, std::string_view next);

}  // namespace unhang::formats::log
