// SPDX-License-Identifier: Apache-2.0
//
// How many collectives a second a job makes, as its evidence shows: of each rank from Flight Recorder dumps,
// of each process from two answers of RAS or more, of each log that has NCCL's COLL lines.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/case.h"

namespace unhang::checks {

struct CollectiveRate {
  std::string who;  // "rank 3", "group tp (2)", "10.0.0.1 pid 412"
  double per_second = 0;
  double seconds = 0;  // over which it was measured
  std::uint64_t calls = 0;
};

struct CollectiveRates {
  std::vector<CollectiveRate> ranks;      // entries of the recorder, ascending rank
  std::vector<CollectiveRate> groups;     // the same by group: of the rank that called most
  std::vector<CollectiveRate> processes;  // launches that RAS counted
  std::vector<CollectiveRate> logs;       // calls that NCCL's log numbers
  double longest_pause = 0;               // seconds between two calls of one rank
  bool empty() const { return ranks.empty() && processes.empty() && logs.empty(); }
};

CollectiveRates measure_rates(const model::Case& joined);
// The fastest; nullptr: the list is empty. Of equal ones the first.
const CollectiveRate* fastest(const std::vector<CollectiveRate>& rates);

}  // namespace unhang::checks
