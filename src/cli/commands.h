// SPDX-License-Identifier: Apache-2.0
//
// All commands, in the order of the help.
#pragma once

#include "cli/command.h"

namespace unhang::cli {

CommandList make_commands();

// Their descriptions, whose flags point into the objects of the list.
std::vector<Command> describe_all(CommandList& commands);

}  // namespace unhang::cli
