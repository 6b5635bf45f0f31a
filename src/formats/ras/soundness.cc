// SPDX-License-Identifier: Apache-2.0
#include "formats/ras/soundness.h"

#include <algorithm>
#include <tuple>
#include <vector>

namespace unhang::formats::ras {

using model::RasCommunicator;
using model::RasPresence;
using model::RasRank;
using model::RasShare;
using model::RasStatus;

void sort_communicators(model::RasAnswer& answer) {
  std::stable_sort(answer.communicators.begin(), answer.communicators.end(),
                   [](const RasCommunicator& a, const RasCommunicator& b) {
                     return std::tie(a.hash, a.secondary_hash) < std::tie(b.hash, b.secondary_hash);
                   });
}

void distrust(RasCommunicator& communicator) {
  std::erase_if(communicator.ranks,
                [](const RasRank& rank) { return rank.presence == RasPresence::kNoCommunicator; });
  std::erase_if(communicator.shares, [](const RasShare& share) {
    return !share.collective && share.status == RasStatus::kNoCommunicator;
  });
  if (communicator.shares.empty()) {
    // Only the JSON form has all ranks and no shares; there the caller computes what differs.
    communicator.mismatch = false;
    return;
  }
  std::vector<std::size_t> groups(model::kRasCollectives + 1);
  for (const RasShare& share : communicator.shares) {
    ++groups[share.collective ? static_cast<std::size_t>(*share.collective) : model::kRasCollectives];
  }
  communicator.mismatch = std::any_of(groups.begin(), groups.end(), [](std::size_t n) { return n > 1; });
}

}  // namespace unhang::formats::ras
