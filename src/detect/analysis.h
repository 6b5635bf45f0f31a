// SPDX-License-Identifier: Apache-2.0
//
// What every detector needs, computed once from the Case: the alignment of the groups, the transfers and the
// wait-for graph. Immutable afterwards.
#pragma once

#include <vector>

#include "detect/engine_evidence.h"
#include "detect/group_progress.h"
#include "detect/log_analysis.h"
#include "detect/p2p_edges.h"
#include "detect/rank_names.h"
#include "detect/ras_analysis.h"
#include "detect/wait_for.h"
#include "model/case.h"

namespace unhang::detect {

struct Analysis {
  const model::Case& joined;  // must outlive the analysis
  std::vector<GroupProgress> groups;
  std::vector<PendingTransfer> transfers;
  WaitGraph waits;
  RasAnalysis ras;
  std::vector<EngineEvidence> engines;
  LogAnalysis logs;
  RankNames names;
};

Analysis analyse(const model::Case& joined);

// Whether all members of the group are known. Of an inferred group (gloo declares none) only those are that
// recorded something in it, unless it spans the whole job: a silent member would not be missed.
bool members_certain(const model::Case& joined, model::GroupIndex group);

// gloo records no point-to-point work, but counts it: whether some of the job's was hidden that way.
bool hides_transfers(const model::Case& joined);

}  // namespace unhang::detect
