// SPDX-License-Identifier: Apache-2.0
//
// The delay matrix of a job: how long transfers between pairs of ranks take, and which pair, sender or
// receiver is slow (C4, HPCA'25: a single hot cell is a link, a hot row its sender, a hot column its
// receiver). A transfer lasts from when both ends are there: the shorter of the two recorded durations, so
// that neither clocks nor a late partner count.
#pragma once

#include <vector>

#include "detect/analysis.h"
#include "model/slow_report.h"

namespace unhang::detect {

// Pairs with at least five transfers that both ends timed; by source, then destination. Transfers inside
// batches have no times of their own.
std::vector<model::SlowPair> measure_pairs(const Analysis& analysis);

std::vector<model::SlowFinding> judge_pairs(const Analysis& analysis,
                                            const std::vector<model::SlowPair>& pairs);

}  // namespace unhang::detect
