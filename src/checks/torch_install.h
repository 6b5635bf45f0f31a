// SPDX-License-Identifier: Apache-2.0
//
// Which PyTorch a command would import, without running it: from torch/version.py beside the Python that the
// command begins with (python itself, or a script such as torchrun or vllm whose first line names it).
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "checks/software.h"

namespace unhang::checks {

struct TorchInstall {
  Release release;
  std::string file;  // that says so
};

// A variable of the environment in which the command will run; nullptr: not set.
using LookUp = std::function<const char*(std::string_view name)>;

// nullopt: none was found where Pythons keep their packages. Ends by `end` (network file systems).
std::optional<TorchInstall> find_torch(const std::vector<std::string>& command, const LookUp& variable,
                                       std::chrono::steady_clock::time_point end);

}  // namespace unhang::checks
