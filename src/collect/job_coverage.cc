// SPDX-License-Identifier: Apache-2.0
#include "collect/job_coverage.h"

#include <algorithm>

#include "formats/catalogue.h"

namespace unhang::collect {

void JobCoverage::add(std::string_view report) {
  for (const model::RasAnswer& answer : formats::read_evidence("ras", report).ras_answers) {
    for (const model::RasCommunicator& communicator : answer.communicators) {
      for (const model::RasRank& rank : communicator.ranks) {
        if (rank.pid > 0) x_pids.insert(rank.pid);
      }
    }
    for (const model::RasProcess& process : answer.lost_processes) {
      if (process.pid > 0) x_pids.insert(process.pid);
    }
    if (answer.is_json) continue;
    x_text_jobs.emplace(answer.nodes.value_or(0), answer.processes.value_or(0), answer.gpus.value_or(0),
                        answer.rows.size());
    x_text_names_less = x_text_names_less || !answer.communicators.empty() || !answer.lost_processes.empty();
  }
}

bool JobCoverage::covers(const std::vector<RasListener>& listeners) const {
  const bool all_named = std::all_of(listeners.begin(), listeners.end(), [&](const RasListener& listener) {
    return listener.pid > 0 && x_pids.count(listener.pid) > 0;
  });
  if (all_named) return true;
  std::int64_t here = 0;  // processes that the jobs have on a node of theirs
  for (const auto& [nodes, processes, gpus, communicators] : x_text_jobs) {
    here += processes / std::max<std::int64_t>(nodes, 1);
  }
  return here >= static_cast<std::int64_t>(listeners.size()) && here > 0;
}

std::string without_times(std::string_view report) {
  std::string result;
  result.reserve(report.size());
  while (!report.empty()) {
    const std::size_t end = std::min(report.find('\n'), report.size() - 1) + 1;
    const std::string_view line = report.substr(0, end);
    report.remove_prefix(end);
    const bool has_time = line.find("\"timestamp\"") != std::string_view::npos ||
                          line.find("\"collection_time_sec\"") != std::string_view::npos ||
                          line.substr(0, 15) == "Communicators..";
    if (!has_time) result += line;
  }
  return result;
}

}  // namespace unhang::collect
