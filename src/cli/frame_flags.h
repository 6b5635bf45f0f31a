// SPDX-License-Identifier: Apache-2.0
//
// The flags that the frame gives to every command, beside the command's own.
#pragma once

#include <string>
#include <vector>

#include "cli/command.h"

namespace unhang::cli {

// Their values. Must outlive the flags below, which point into it.
struct FrameOptions {
  bool help = false;
  bool version = false;
  std::string color = "auto";
  std::string exit_style = "default";
};

// Of the program, before any command.
std::vector<Flag> program_flags(FrameOptions& options);

// All that a command takes: its own first.
std::vector<Flag> command_flags(const Command& command, FrameOptions& options);

}  // namespace unhang::cli
