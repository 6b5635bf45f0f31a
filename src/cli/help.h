// SPDX-License-Identifier: Apache-2.0
//
// What --help prints, at most 80 columns wide, made from the descriptions of the commands.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "cli/command.h"

namespace unhang::cli {

inline constexpr int kHelpWidth = 80;

// The whole program: the commands under their headings, in the order of the list.
std::string render_overview(std::span<const Command> commands, const std::vector<Flag>& program_flags,
                            int width);

// One command. `flags` are all that it takes, those of the frame included.
std::string render_help(const Command& command, const std::vector<Flag>& flags, int width);

// "unhang explain [CODE] [FLAGS]".
std::string usage_line(const Command& command);

// "-j, --threads N"; "    --json".
std::string flag_term(const Flag& flag);

// The help text of a flag with its choices and default.
std::string flag_text(const Flag& flag);

}  // namespace unhang::cli
