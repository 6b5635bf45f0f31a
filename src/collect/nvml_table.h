// SPDX-License-Identifier: Apache-2.0
//
// What NVML tells as the tables that nvidia-smi prints with --query-gpu and --query-compute-apps, which
// readers of logs and people know.
#pragma once

#include <string>

#include "os/nvml.h"

namespace unhang::collect {

std::string nvml_table(const os::NvmlReport& report);

}  // namespace unhang::collect
