// SPDX-License-Identifier: Apache-2.0
//
// Which rank wrote a dump. The file name says it by convention; the dump's own groups can confirm or
// contradict: a rank is a member of every group that it declares, and of a group of one there is no doubt.
#pragma once

#include "join/joined_dump.h"

namespace unhang::join {

// Fills rank and host of each dump. Contradictions become conflicts of the case; content wins over the name.
void identify(std::vector<JoinedDump>& dumps, RankLists& lists, model::Case& joined);

}  // namespace unhang::join
