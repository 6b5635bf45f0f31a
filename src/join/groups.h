// SPDX-License-Identifier: Apache-2.0
//
// The process groups of the job, united over all dumps. A group is the same in two dumps when name,
// description, backend and declared ranks agree; where the ranks are not declared (gloo), the members are
// those who recorded something in it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "join/joined_dump.h"

namespace unhang::join {

// How the groups of one dump are called in the Case.
struct DumpGroups {
  std::vector<model::GroupIndex> by_dump_group;  // index into Dump::groups -> group of the Case
  struct Status {
    model::GroupStatus numbers;
    bool inferred = false;  // assigned by order, not because an operation named both ids
  };
  std::map<model::GroupIndex, Status> status;
  std::vector<model::GroupIndex> member_of;  // ascending, without duplicates: all groups of this rank
};

// Fills Case::groups (members as indices into Case::ranks, which must be complete) and says for each kept
// dump how its groups map. The result is in the order of `dumps`; set-aside dumps get an empty one.
std::vector<DumpGroups> unite_groups(const std::vector<JoinedDump>& dumps, RankLists& lists,
                                     model::Case& joined);

}  // namespace unhang::join
