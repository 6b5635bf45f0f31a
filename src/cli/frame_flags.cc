// SPDX-License-Identifier: Apache-2.0
#include "cli/frame_flags.h"

namespace unhang::cli {
namespace {

Flag help_flag(FrameOptions& options) {
  return {.name = "--help", .short_name = "-h", .help = "print this help", .target = &options.help};
}

Flag color_flag(FrameOptions& options) {
  return {.name = "--color",
          .value = "WHEN",
          .help = "colours in the output",
          .target = &options.color,
          .choices = {"auto", "always", "never"}};
}

}  // namespace

std::vector<Flag> program_flags(FrameOptions& options) {
  return {{.name = "--version", .short_name = "-V", .help = "print the version", .target = &options.version},
          color_flag(options),
          help_flag(options)};
}

std::vector<Flag> command_flags(const Command& command, FrameOptions& options) {
  std::vector<Flag> flags = command.flags;
  if (command.gives_verdict) {
    flags.push_back({.name = "--exit-style",
                     .value = "STYLE",
                     .help = "exit codes as another monitor expects them",
                     .target = &options.exit_style,
                     .choices = {"default", "nagios", "npd", "nhc", "zero"}});
  }
  flags.push_back(color_flag(options));
  flags.push_back(help_flag(options));
  return flags;
}

}  // namespace unhang::cli
