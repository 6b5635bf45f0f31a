// SPDX-License-Identifier: Apache-2.0
//
// How the clocks of the job's hosts differ. A collective that waits for everybody ends everywhere at the same
// moment, so the times at which two hosts saw the same ones end differ by their clocks and by what each was
// late to look. The median over many says the first, their width the second.
//
// Linear in the operations, a few thousand for each pair of hosts at most. Deterministic: hosts in the order
// of their names, groups in that of the Case.
#pragma once

#include "model/case.h"

namespace unhang::join {

// Fills Case::clocks; wants Case::ranks, groups, hosts and logs (their zones inferred: log_zones.h). Leaves
// it empty where fewer than two hosts share anything.
void estimate_clocks(model::Case& joined);

}  // namespace unhang::join
