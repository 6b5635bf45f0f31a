// SPDX-License-Identifier: Apache-2.0
//
// The text log as an input format: the last in the catalogue, since nearly anything is text.
#pragma once

#include <string_view>

#include "formats/evidence.h"

namespace unhang::formats::log {

// Text that somebody's editor or PowerShell wrote as UTF-16: it is not read, and parse() says what to do.
bool is_utf16(std::string_view bytes);

// Text, and nothing that only looks like it: no NUL bytes, mostly printable.
bool sniff(std::string_view bytes);
// Of a text in which no line is known and no word is of a job, the kind stays "unknown"; the count of its
// lines is there all the same, for somebody who asked for this file by name.
void parse(std::string_view bytes, Evidence& evidence);

}  // namespace unhang::formats::log
