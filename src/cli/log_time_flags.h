// SPDX-License-Identifier: Apache-2.0
//
// --tz and --year: what logs leave out of their times and the reader of them may know.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/command.h"

namespace unhang::cli {

// As they were typed.
struct LogTimeFlags {
  std::optional<std::string> zone;
  std::optional<std::int64_t> year;
};

// What they mean. Absent: not given.
struct LogTimeValues {
  std::optional<std::int64_t> zone_ns;  // east of UTC, at most 14 hours either way
  std::optional<std::int32_t> year;
};

// `typed` must live as long as the command that has the flags.
std::vector<Flag> log_time_flags(LogTimeFlags& typed);

// kUsage where the zone is none; the message lists what is accepted.
base::Result<LogTimeValues> values_of(const LogTimeFlags& typed);

}  // namespace unhang::cli
