// SPDX-License-Identifier: Apache-2.0
//
// Brings RAS into the Case. A rank of RAS is a rank inside its communicator; which rank of the job it is
// follows from the communicator that spans the job, and from there by process and GPU to all others. Without
// dumps the largest communicator stands for the job.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "join/nccl_job.h"
#include "join/ras_jobs.h"
#include "model/case.h"

namespace unhang::join {

// Call when Case::ranks has what the dumps say (none where there are no dumps), before anything counts
// ranks. Adds ranks that only RAS knows, fills Case::ras and hosts, pids and devices of ranks, and sets aside
// what is of another job or of another week. `answers` and `events` name their inputs; `dumped_ns` is when
// the latest operation of the dumps began, 0 where that is not known; `logs`: whom the logs are of.
void join_ras(std::vector<AskedAnswer> answers, std::vector<model::RasEvidence::Event> events,
              std::int64_t dumped_ns, const NcclJob& logs, model::Case& joined);

// The coverage of RAS over the ranks of the Case; call when all ranks are there.
void cover_ras(model::Case& joined);

}  // namespace unhang::join
