// SPDX-License-Identifier: Apache-2.0
//
// All that the times of a job say, in one report. Pure: the Case alone decides. Linear in the operations but
// for sorting; memory is bounded by the newest 4,096 operations of each member of one group at a time.
#pragma once

#include "detect/analysis.h"
#include "model/slow_report.h"

namespace unhang::detect {

model::SlowReport slow_report(const Analysis& analysis);

// The findings about transfers and pairs alone, the one that costs most first.
std::vector<model::SlowFinding> slow_network(const Analysis& analysis);

}  // namespace unhang::detect
