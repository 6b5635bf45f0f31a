// SPDX-License-Identifier: Apache-2.0
//
// What the names of pods say of who made them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace unhang::detect {

// "llama-0-3" (group 0, worker 3) -> "llama-0"; empty: not a name that LeaderWorkerSet gives a worker.
std::string group_of_worker(std::string_view pod);

// "train-workers-0-1-x7k2p" of JobSet: names, index of the job, index of the pod, and Kubernetes' five
// letters.
bool is_of_job_set(std::string_view pod);

// The first group of which the leader ("llama-0") and all workers up to the largest ("llama-0-1", …) are
// among `names`, and in which every name has its place; empty: the names are something else. Machines, too,
// are called "rack-1-2".
std::string group_of_all(const std::vector<std::string>& names);

}  // namespace unhang::detect
