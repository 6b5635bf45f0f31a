// SPDX-License-Identifier: Apache-2.0
//
// Point-to-point transfers, matched as the k-th operation of each directed edge. Sequence numbers of the two
// ends don't compare, and the ends may be recorded under different groups, so ranks are translated to the
// whole job first.
#pragma once

#include <cstdint>
#include <vector>

#include "model/case.h"

namespace unhang::detect {

// One transfer that is not finished at the end that recorded it.
struct PendingTransfer {
  model::RankIndex rank = 0;  // who waits
  model::RankIndex peer = 0;  // for whom
  bool is_send = false;
  std::uint32_t operation = 0;  // index in the waiting rank's operations
  bool matched = false;         // the peer has posted its end
  bool peer_known = true;       // false: the peer left no dump, or one that does not reach to the end
  bool counted = false;         // matched by counting from the start of both rings, not only by what is open
  std::uint32_t peer_operation = 0;  // when matched and unfinished there too
  bool peer_pending = false;
  bool size_differs = false;  // both ends open, with different numbers of elements or types
};

// One recorded end of a transfer.
struct TransferEnd {
  std::uint32_t operation = 0;
  bool finished = false;
};

// All that is recorded of one directed edge, each end in its order of launch.
struct TransferEdge {
  model::RankIndex source = 0, destination = 0;
  std::vector<TransferEnd> sends, receives;
  bool counted = false;  // both rings reach back to their start: the k-th send is the k-th receive
};

// By source and destination.
std::vector<TransferEdge> transfer_edges(const model::Case& joined);

// All unfinished transfers, by rank and order of launch. Linear but for sorting by edge.
std::vector<PendingTransfer> pending_transfers(const model::Case& joined);

}  // namespace unhang::detect
