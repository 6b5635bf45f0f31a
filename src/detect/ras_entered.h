// SPDX-License-Identifier: Apache-2.0
//
// Whether a rank whose dump is missing entered the operation that the others stand in: what RAS counts of it
// tells. Most missing dumps were just not copied, and whoever launched as much as everybody else is not the
// one that they wait for.
#pragma once

#include "detect/ras_analysis.h"
#include "detect/wait_for.h"

namespace unhang::detect {

// Takes ranks out of Stall::unknown that RAS shows to have launched what the others of that communicator
// have, and links the graph anew.
void complete_by_ras(const RasAnalysis& ras, const model::Case& joined, WaitGraph& graph);

// Whether somebody waits for that rank in what RAS does not count: a transfer, an all-to-all. It may stand in
// that as well, and be late everywhere else for this reason only.
bool awaited_uncounted(const model::Case& joined, const WaitGraph& graph, model::RankIndex rank);

}  // namespace unhang::detect
