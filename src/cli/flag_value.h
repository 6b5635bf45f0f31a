// SPDX-License-Identifier: Apache-2.0
//
// From the text that was given to a flag to the value it stands for, and back for showing defaults.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "cli/command.h"

namespace unhang::cli {

// Does it take a value, or is it a switch (or a counter)?
bool takes_value(const Flag& flag);

// For switches and counters.
void set_switch(const Flag& flag, std::size_t times);

// Checks and stores one value; a vector gets it appended. kUsage with a message that names the flag.
base::Result<> set_value(const Flag& flag, std::string_view text);

// "4", "25s", "auto"; empty where there is no default worth showing (switches, optionals, empty text).
std::string default_text(const Flag& flag);

}  // namespace unhang::cli
