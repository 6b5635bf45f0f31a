// SPDX-License-Identifier: Apache-2.0
//
// The flags that say which releases variables are meant for, shared by the commands of `unhang env`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "checks/software.h"
#include "cli/command.h"

namespace unhang::cli {

struct SoftwareFlags {
  std::optional<std::string> nccl, torch, engine_release;
  std::string engine;  // empty: not said
};

std::vector<Flag> software_flags(SoftwareFlags& flags);
// kUsage where a release cannot be read.
base::Result<checks::Software> software_of(const SoftwareFlags& flags);

}  // namespace unhang::cli
