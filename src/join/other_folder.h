// SPDX-License-Identifier: Apache-2.0
//
// Two jobs of one size in two folders: where folders hold dumps of the same ranks from different processes,
// one folder is the job. Rank by rank the newer dump would make a job that never was.
#pragma once

#include <vector>

#include "join/joined_dump.h"
#include "model/case.h"

namespace unhang::join {

void set_aside_other_folders(std::vector<JoinedDump>& dumps, const model::Case& joined);

}  // namespace unhang::join
