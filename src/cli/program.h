// SPDX-License-Identifier: Apache-2.0
//
// The program without main(): chooses the command, parses, prints help, runs, maps the exit code.
#pragma once

#include <string>
#include <vector>

#include "cli/command.h"

namespace unhang::cli {

// `words` without the name of the program. Complaints go to `err`, with a hint.
int run_program(const std::vector<std::string>& words, CommandList commands, Output& out, Output& err,
                const Surroundings& surroundings);

}  // namespace unhang::cli
