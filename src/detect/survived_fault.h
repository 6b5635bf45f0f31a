// SPDX-License-Identifier: Apache-2.0
//
// A fault that its victims outlived is no cause of what happened much later: a GPU that reported an Xid and
// finished collectives for an hour after it, a port that went down and came back, a device that no rank of
// the job uses.
#pragma once

#include <optional>
#include <string>

#include "detect/explanation.h"
#include "detect/host_times.h"
#include "detect/rank_names.h"

namespace unhang::detect {

// "rank 2 finished operations until 50 min after it": every rank that the explanation is about finished
// operations well behind all that it rests on. Nullopt: not so, or no time tells.
std::optional<std::string> outlived(const model::Case& joined, const RankNames& names,
                                    const Explanation& explanation, const HostTimes& times);

// All devices that it blames are on hosts whose ranks' devices are all known, and none is one of them.
bool is_of_no_rank(const RankNames& names, const Explanation& explanation);

}  // namespace unhang::detect
