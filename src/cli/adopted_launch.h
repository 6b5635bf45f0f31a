// SPDX-License-Identifier: Apache-2.0
//
// User, groups, limits, working folder and environment of a running process or of a systemd unit, for a
// command that is to run in the same way.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "os/process_identity.h"

namespace unhang::cli {

// kNoInput where there is no such process, or it may not be read.
base::Result<os::RunningProcess> adopt_process(std::int64_t pid);
// Of the unit's main process where it runs, else as its properties say. kNoInput where systemd knows no such
// unit, kUnavailable where it cannot be asked.
base::Result<os::RunningProcess> adopt_unit(const std::string& unit);

// From what `systemctl show` printed. Files are read, users looked up.
base::Result<os::RunningProcess> launch_of_properties(std::string_view properties, const std::string& unit);
// "KEY=VALUE" of a line of that; empty where it is not there.
std::string unit_property(std::string_view properties, std::string_view name);

// Files from which NCCL sets further variables inside of the processes, where they are there.
std::vector<std::string> nccl_configuration(const std::vector<std::string>& environment);

}  // namespace unhang::cli
