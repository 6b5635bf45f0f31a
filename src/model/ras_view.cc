// SPDX-License-Identifier: Apache-2.0
#include "model/ras_view.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

namespace unhang::model {

const RasCommunicator* largest_communicator(const RasView& view) {
  const auto weight = [](const RasCommunicator& communicator) {
    const auto answered =
        std::count_if(communicator.ranks.begin(), communicator.ranks.end(),
                      [](const RasRank& rank) { return rank.presence == RasPresence::kAnswered; });
    return std::tuple(communicator.size, answered);
  };
  const RasCommunicator* best = nullptr;
  for (const RasCommunicator& communicator : view.communicators) {
    if (communicator.size > 0 && (best == nullptr || weight(communicator) > weight(*best)))
      best = &communicator;
  }
  return best;
}

std::size_t known_processes(const RasView& view) {
  std::set<std::pair<std::string, std::int64_t>> processes;
  for (const RasCommunicator& communicator : view.communicators) {
    for (const RasRank& rank : communicator.ranks) {
      if (rank.pid >= 0) processes.emplace(rank.host, rank.pid);
    }
  }
  for (const RasProcess& process : view.lost_processes) processes.emplace(process.host, process.pid);
  return processes.size();
}

}  // namespace unhang::model
