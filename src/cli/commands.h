// SPDX-License-Identifier: Apache-2.0
//
// All commands, in the order of the help.
#pragma once

#include "cli/command.h"

namespace unhang::cli {

CommandList make_commands();

}  // namespace unhang::cli
