// SPDX-License-Identifier: Apache-2.0
//
// Completion scripts for bash, zsh and fish, made from the descriptions of the commands. The scripts stand
// alone: they do not call the program while somebody types.
#pragma once

#include <span>
#include <string>

#include "cli/command.h"

namespace unhang::cli {

// `commands` as described; hidden ones are left out, hidden flags too.
std::string render_bash_completion(std::span<const Command> commands);
std::string render_zsh_completion(std::span<const Command> commands);
std::string render_fish_completion(std::span<const Command> commands);

}  // namespace unhang::cli
