// SPDX-License-Identifier: Apache-2.0
//
// Whether a rank whose dump is missing waits itself: its watchdog says so in its log, and names the
// operation. Whoever gives up on a collective has entered it and is a victim, dump or not.
#pragma once

#include "detect/log_analysis.h"
#include "detect/wait_for.h"

namespace unhang::detect {

// Moves ranks from Stall::unknown to Stall::counted whose watchdogs gave up on that very collective, marks
// all whose watchdogs gave up on anything, and links the graph anew. Call after complete_by_ras.
void complete_by_watchdogs(const LogAnalysis& logs, const model::Case& joined, WaitGraph& graph);

}  // namespace unhang::detect
