// SPDX-License-Identifier: Apache-2.0
//
// Who a job is to NCCL, as its logs and its RAS answers tell: communicator ids, which are random, and process
// numbers, which are not, but seldom the same by chance.
#pragma once

#include <cstdint>
#include <set>

#include "join/logs.h"
#include "join/ras_jobs.h"

namespace unhang::join {

struct NcclJob {
  std::set<std::uint64_t> communicators;
  std::set<std::int64_t> pids;
};

// Of the logs that name communicators by id; nothing where none does: other logs may be anybody's.
NcclJob job_of(const LogJoin& logs);

// In the order in which they are believed.
enum class Kinship : std::uint8_t {
  kStranger,      // it names all its communicators and processes, and shares none
  kUnknown,       // it leaves some unnamed, as text answers do
  kProcess,       // a process in common
  kCommunicator,  // a communicator in common
};
Kinship kinship(const RasHistory& history, const NcclJob& job);

}  // namespace unhang::join
