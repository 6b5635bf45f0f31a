// SPDX-License-Identifier: Apache-2.0
//
// What `py-spy dump` prints, as text (also --native, --locals, --subprocesses, of several processes one
// after the other) and as JSON (--json). Of locals and command lines nothing is kept but the program's name.
#pragma once

#include <cstddef>
#include <string_view>

#include "formats/evidence.h"

namespace unhang::formats::stacks {

inline constexpr std::size_t kMaxPySpyJson = 256 << 20;  // bytes; a larger file is not read

bool sniff_py_spy_text(std::string_view bytes);
void parse_py_spy_text(std::string_view bytes, Evidence& evidence);

bool sniff_py_spy_json(std::string_view bytes);
void parse_py_spy_json(std::string_view bytes, Evidence& evidence);

}  // namespace unhang::formats::stacks
