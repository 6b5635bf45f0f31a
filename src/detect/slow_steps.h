// SPDX-License-Identifier: Apache-2.0
//
// How long the steps of the job take, as the calls of each group repeat themselves: on one clock, so that
// nothing is compared across hosts. It is the pace of the whole job; who makes it slow is told elsewhere.
#pragma once

#include <vector>

#include "detect/analysis.h"
#include "model/slow_report.h"

namespace unhang::detect {

// By group; only groups with at least five steps.
std::vector<model::SlowSteps> measure_steps(const Analysis& analysis);

// At most one finding, of the group with the most members: steps that were regular and are regular again, at
// another length (serving is not regular: it follows its load). Weak: it says that something changed.
std::vector<model::SlowFinding> judge_steps(const Analysis& analysis,
                                            const std::vector<model::SlowSteps>& steps);

}  // namespace unhang::detect
