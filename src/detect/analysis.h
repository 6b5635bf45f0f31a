// SPDX-License-Identifier: Apache-2.0
//
// What every detector needs, computed once from the Case: the alignment of the groups, the transfers and the
// wait-for graph. Immutable afterwards.
#pragma once

#include <vector>

#include "detect/group_progress.h"
#include "detect/p2p_edges.h"
#include "detect/wait_for.h"
#include "model/case.h"

namespace unhang::detect {

struct Analysis {
  const model::Case& joined;  // must outlive the analysis
  std::vector<GroupProgress> groups;
  std::vector<PendingTransfer> transfers;
  WaitGraph waits;
};

Analysis analyse(const model::Case& joined);

}  // namespace unhang::detect
