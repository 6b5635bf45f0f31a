// SPDX-License-Identifier: Apache-2.0
//
// JSON texts that end in the middle. The parser wants the whole text before it hands out the first value;
// this cuts a text back to where its last entry was complete and closes what was open there.
#pragma once

#include <string>
#include <string_view>

namespace unhang::formats::flight_recorder {

// Whether the text ends inside a string or with brackets open.
bool is_cut(std::string_view json);

// The longest beginning of `json` that ends with a whole entry (or group, or status), with the brackets
// around it closed. Empty when there is none, or when `json` is not cut. Linear.
std::string closed_prefix(std::string_view json);

}  // namespace unhang::formats::flight_recorder
