// SPDX-License-Identifier: Apache-2.0
//
// How long the transfers of each group take by themselves, without the waiting for a late member: of a
// collective that all must enter, the member that came last is in it only while data moves. By durations, so
// that no clock matters.
#pragma once

#include <vector>

#include "detect/analysis.h"
#include "model/slow_report.h"

namespace unhang::detect {

// A series for each (group, call, bytes) with at least five measurements; by the time in them, descending.
// At most 256 series of a group are kept apart (the first in the order of the calls).
std::vector<model::SlowTransfers> measure_transfers(const Analysis& analysis);

// A finding for each group whose transfers became slower and stayed so, by at least a hundredth of its time;
// findings that are no trouble for those that were slow for a while and for wild ones.
std::vector<model::SlowFinding> judge_transfers(const Analysis& analysis,
                                                const std::vector<model::SlowTransfers>& transfers);

}  // namespace unhang::detect
