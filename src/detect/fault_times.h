// SPDX-License-Identifier: Apache-2.0
//
// What the time of a fault says about it as a cause of the stall: it came after, it was outlived, nothing
// stands at all, or no clock tells.
#pragma once

#include <optional>

#include "detect/analysis.h"
#include "detect/explanation.h"
#include "detect/host_times.h"
#include "detect/stall_start.h"

namespace unhang::detect {

// Of an explanation out of logs: takes back that it explains the stall, or marks that its order is unknown,
// and says so in its headline. `is_device_or_link`: a fault of a machine, which a job may outlive.
void weigh_fault_times(const Analysis& analysis, const HostTimes& times,
                       const std::optional<StallStart>& stall, bool is_device_or_link, Explanation& told);

// When the first thing that it rests on happened; nullopt where not all of these are causes with a time.
std::optional<Moment> happened(const Analysis& analysis, const HostTimes& times, const Explanation& told);

}  // namespace unhang::detect
