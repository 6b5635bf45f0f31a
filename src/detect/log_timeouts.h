// SPDX-License-Identifier: Apache-2.0
//
// The watchdog's time-outs, put together by process group: who gave up where, and who of the group did not.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/log.h"
#include "model/verdict.h"

namespace unhang::detect {

struct LogAnalysis;

struct TimeoutGroup {
  std::string key;                                     // the group's name; empty: no line names one
  std::string label;                                   // for people
  std::vector<const model::WatchdogTimeout*> members;  // one a rank, its first; by rank
  std::int64_t collapsed = 0;                          // as many more that a log collector left out
  std::optional<std::int32_t> size;  // how many ranks the group has, where the evidence tells
  // Ranks inside the group that gave no time-out; empty where the size is not known or most are missing.
  std::vector<std::int32_t> silent;
};

// Of `logs.timeouts`; the group in which most ranks gave up comes first. LogAnalysis has the result.
std::vector<TimeoutGroup> group_timeouts(const LogAnalysis& logs);

// How many ranks a gather or scatter of these sizes has: NumelOut / NumelIn.
std::optional<std::int32_t> ranks_from_sizes(const model::WatchdogTimeout& timeout);

// "rank 5" where its global rank is known, else "rank 5 of group 9".
std::string rank_of_timeout(const LogAnalysis& logs, const TimeoutGroup& group,
                            const model::WatchdogTimeout& timeout);
model::Subject subject_of_timeout(const LogAnalysis& logs, const TimeoutGroup& group,
                                  const model::WatchdogTimeout& timeout);

model::Where where_of(const TimeoutGroup& group, const model::WatchdogTimeout& timeout);

}  // namespace unhang::detect
