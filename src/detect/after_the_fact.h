// SPDX-License-Identifier: Apache-2.0
//
// A fault that began after the stall did is a consequence, or a coincidence: the link that goes down when the
// node is reset, the process that is killed because it hung. It may not be chosen as the cause, whatever the
// order in which detectors are asked.
#pragma once

#include <optional>
#include <string>

#include "detect/explanation.h"
#include "detect/host_times.h"
#include "detect/log_analysis.h"
#include "detect/stall_start.h"

namespace unhang::detect {

// "it came 712 s after the stall had begun": everything that the explanation rests on is a cause told by
// logs, and all of it surely began later than the stall, beyond what clocks differ and an ordinary wait may
// last. Nullopt where that is not so, or where clocks do not tell.
std::optional<std::string> came_after(const LogAnalysis& logs, const Explanation& explanation,
                                      const StallStart& stall, const HostTimes& times);

}  // namespace unhang::detect
