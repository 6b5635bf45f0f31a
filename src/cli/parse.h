// SPDX-License-Identifier: Apache-2.0
//
// From the words of the command line to the flags of one command. The first word or two choose the command
// (program.cc); everything behind it comes here.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/command.h"

namespace unhang::cli {

struct ParsedArguments {
  std::vector<std::string> positionals;
  bool help = false;  // --help or -h was given; nothing else was checked then
};

// Flags may stand before and after positionals, "--" ends them, "-" is a positional. "--flag value",
// "--flag=value",
// "-fvalue", "-abc" for switches. A single flag that is given twice: the last one counts. Sets the targets of
// `flags`; on kUsage some may be set already.
base::Result<ParsedArguments> parse_arguments(const std::vector<Flag>& flags, std::vector<std::string> words);

// The number of positionals and their choices.
base::Result<> check_positionals(const Positional& positional, const std::vector<std::string>& given);

}  // namespace unhang::cli
