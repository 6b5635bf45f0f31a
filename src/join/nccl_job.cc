// SPDX-License-Identifier: Apache-2.0
#include "join/nccl_job.h"

#include <algorithm>

namespace unhang::join {
namespace {

using model::RasView;

// JSON has no table; a text answer names only the communicators that something is wrong with.
bool names_all(const RasView& view) {
  return view.complete && !view.corrupt && !view.communicators.empty() && view.rows.empty();
}

bool shares_communicator(const RasView& view, const NcclJob& job) {
  return std::any_of(view.communicators.begin(), view.communicators.end(),
                     [&](const auto& own) { return job.communicators.count(own.hash) != 0; });
}

bool shares_process(const RasView& view, const NcclJob& job) {
  const auto known = [&](const auto& process) {
    return process.pid >= 0 && job.pids.count(process.pid) != 0;
  };
  return std::any_of(view.lost_processes.begin(), view.lost_processes.end(), known) ||
         std::any_of(view.communicators.begin(), view.communicators.end(),
                     [&](const auto& own) { return std::any_of(own.ranks.begin(), own.ranks.end(), known); });
}

}  // namespace

NcclJob job_of(const LogJoin& logs) {
  NcclJob out;
  logs.each([&](model::InputIndex, const model::Log& log) {
    for (const model::LogCommunicator& own : log.communicators) {
      if (!own.id) continue;
      out.communicators.insert(*own.id);
      if (own.origin < log.origins.size() && log.origins[own.origin].pid >= 0)
        out.pids.insert(log.origins[own.origin].pid);
    }
  });
  return out;
}

Kinship kinship(const RasHistory& history, const NcclJob& job) {
  const auto any = [&](auto&& shares) {
    return std::any_of(history.begin(), history.end(),
                       [&](const RasView& view) { return shares(view, job); });
  };
  if (any(shares_communicator)) return Kinship::kCommunicator;
  if (any(shares_process)) return Kinship::kProcess;
  return !history.empty() && std::all_of(history.begin(), history.end(), names_all) ? Kinship::kStranger
                                                                                    : Kinship::kUnknown;
}

}  // namespace unhang::join
