// SPDX-License-Identifier: Apache-2.0
//
// A rank that completed an all-reduce proves that all members entered it. A dump that completed operations
// which nobody else came to tells of another run, or of a later moment: with the others it would make them
// all look stopped.
#pragma once

#include <vector>

#include "join/joined_dump.h"

namespace unhang::join {

// Sets JoinedDump::set_aside of such dumps. Call when each rank has one dump. Linear in the operations.
void set_aside_impossible_progress(std::vector<JoinedDump>& dumps, RankLists& lists,
                                   const model::Vocabulary& vocabulary);

}  // namespace unhang::join
