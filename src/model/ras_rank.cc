// SPDX-License-Identifier: Apache-2.0
#include "model/ras_rank.h"

#include <algorithm>

namespace unhang::model {

const RasRank* find_rank(const RasCommunicator& communicator, std::int32_t rank) {
  const auto at = std::lower_bound(communicator.ranks.begin(), communicator.ranks.end(), rank,
                                   [](const RasRank& known, std::int32_t r) { return known.rank < r; });
  return at != communicator.ranks.end() && at->rank == rank ? &*at : nullptr;
}

}  // namespace unhang::model
