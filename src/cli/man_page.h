// SPDX-License-Identifier: Apache-2.0
//
// Man pages in roff, made from the descriptions of the commands. No date in them: the same program, the same
// pages.
#pragma once

#include <span>
#include <string>

#include "cli/command.h"

namespace unhang::cli {

// "unhang", "unhang-config-show".
std::string man_page_name(const Command& command);

// unhang(1): what the program is, the list of the commands, exit codes, environment.
std::string render_program_page(std::span<const Command> commands);

// unhang-COMMAND(1).
std::string render_command_page(const Command& command);

}  // namespace unhang::cli
