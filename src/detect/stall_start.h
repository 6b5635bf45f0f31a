// SPDX-License-Identifier: Apache-2.0
//
// When the stall began: when the first rank stood that still stands. From dumps: the call that does not end,
// or the last thing in its group that ended behind that call. From logs: a time-out minus what the watchdog
// had waited.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "detect/analysis.h"
#include "detect/explanation.h"
#include "detect/host_times.h"

namespace unhang::detect {

struct StallStart {
  Moment at;
  // As long as this a wait may be an ordinary one: what happens within it may still be the reason.
  std::int64_t ordinary_ns = 0;
  std::string basis;                   // for people
  std::optional<OperationRef> stands;  // the call of the first who stands
};

// Nullopt: nobody stands, or no time tells it.
std::optional<StallStart> find_stall_start(const Analysis& analysis, const HostTimes& times);

}  // namespace unhang::detect
