// SPDX-License-Identifier: Apache-2.0
//
// One thing that a trial of `unhang probe` has different: a variable that is set, an argument that is added
// or removed. Whatever is no such thing is refused before anything was started.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace unhang::cli {

struct LaunchChange {
  std::string text;  // as it is shown, without secrets
  std::string variable, value, argument;
  enum { kSet, kAdd, kRemove } kind = kSet;
};

// "VAR=VALUE". kUsage: it is none, no name of a variable, or one of those by which the probe itself sees.
base::Result<LaunchChange> parse_variable(const std::string& text);

// "+ARG" or "-ARG", the latter of `command`. kUsage.
base::Result<LaunchChange> parse_argument(const std::string& text, const std::vector<std::string>& command);

void apply(const LaunchChange& change, std::vector<std::string>& words,
           std::vector<std::string>& environment);

}  // namespace unhang::cli
