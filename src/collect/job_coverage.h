// SPDX-License-Identifier: Apache-2.0
//
// Whether the reports that came so far speak of every process that listens on a port: a job answers through
// any of its processes, so a process that no report knows belongs to a job that was not heard yet.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "collect/ras_listeners.h"

namespace unhang::collect {

class JobCoverage {
 public:
  // Remembers which processes a report names.
  void add(std::string_view report);

  // Text reports name few processes: there the number of processes of each job is compared with how many
  // listen.
  bool covers(const std::vector<RasListener>& listeners) const;

  // Ranks or problems that a text report may leave without a name, which its verbose form would give.
  bool text_names_less() const { return x_text_names_less; }

 private:
  std::set<std::int64_t> x_pids;
  // nodes, processes, GPUs, communicators: what tells jobs apart in a text without names.
  std::set<std::tuple<std::int64_t, std::int64_t, std::int64_t, std::size_t>> x_text_jobs;
  bool x_text_names_less = false;
};

// The report without the parts that differ between two that say the same (times).
std::string without_times(std::string_view report);

}  // namespace unhang::collect
