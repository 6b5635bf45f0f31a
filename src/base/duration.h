// SPDX-License-Identifier: Apache-2.0
//
// Durations as people write them: "25s", "500ms", "1.5h", "1h30m". A number without a unit is refused (only 0
// needs none), because nobody can tell whether 30 was meant as seconds or minutes.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "base/result.h"

namespace unhang::base {

// Units ns, us (µs), ms, s, m, h, d; largest first when there are several. Never negative. kUsage when it is
// not one.
Result<std::chrono::nanoseconds> parse_duration(std::string_view text);

// The shortest exact form, which parse_duration reads back: "1h30m", "2.5s", "0s". Negative values get a "-".
std::string format_duration(std::chrono::nanoseconds value);

}  // namespace unhang::base
