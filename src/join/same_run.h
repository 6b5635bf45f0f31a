// SPDX-License-Identifier: Apache-2.0
//
// Folders collect leftovers: dumps of another job, of an earlier start of the same job, copies. This decides
// which dumps belong together; the rest is set aside with the reason, never mixed in.
#pragma once

#include "join/joined_dump.h"

namespace unhang::join {

// Sets JoinedDump::set_aside. The largest set of dumps that agree is the job; of equals, the newest.
void set_aside_strangers(std::vector<JoinedDump>& dumps, RankLists& lists, const model::Case& joined);

}  // namespace unhang::join
