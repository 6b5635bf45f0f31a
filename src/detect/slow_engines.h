// SPDX-License-Identifier: Apache-2.0
//
// How many tokens a second the engines make, by the counters that they export, reading after reading.
#pragma once

#include <vector>

#include "detect/analysis.h"
#include "model/slow_report.h"

namespace unhang::detect {

// Engines with at least two timed readings between which they had requests to work on.
std::vector<model::SlowRate> measure_engines(const Analysis& analysis,
                                             std::vector<model::SlowFinding>& findings);

}  // namespace unhang::detect
