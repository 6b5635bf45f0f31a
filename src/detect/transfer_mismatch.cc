// SPDX-License-Identifier: Apache-2.0
//
// A send and its receive that are both open and don't fit: NCCL waits for ever for the missing bytes. Which
// end is wrong the two cannot tell; both are named.
#include <algorithm>

#include "detect/detector.h"
#include "detect/wording.h"

namespace unhang::detect {

std::vector<Explanation> find_transfer_mismatch(const Analysis& analysis) {
  const model::Case& joined = analysis.joined;
  std::vector<Explanation> out;
  for (const PendingTransfer& transfer : analysis.transfers) {
    if (!transfer.size_differs || !transfer.is_send) continue;  // each pair is seen from both ends
    const model::Operation& send = joined.ranks[transfer.rank].operations[transfer.operation];
    const model::Operation& receive = joined.ranks[transfer.peer].operations[transfer.peer_operation];
    Explanation explanation;
    explanation.category = model::Category::kCollectiveDesync;
    explanation.cause = joined.signature(send).input_dtypes != joined.signature(receive).input_dtypes
                            ? "dtype_mismatch"
                            : "size_mismatch";
    explanation.strength = model::Confidence::kHigh;
    explanation.culprits = {transfer.rank, transfer.peer};
    explanation.is_pair = true;
    explanation.at = OperationRef{transfer.rank, transfer.operation};
    explanation.evidence = {{transfer.rank, transfer.operation}, {transfer.peer, transfer.peer_operation}};
    const std::string source = std::to_string(joined.ranks[transfer.rank].global_rank);
    const std::string destination = std::to_string(joined.ranks[transfer.peer].global_rank);
    explanation.headline = "rank " + source + " sends " + call_with_size(joined, send).substr(5) +
                           " to rank " + destination + ", which expects a " + call_with_size(joined, receive);
    explanation.why.push_back(
        "the two ends of one transfer do not fit; which of them is wrong, their code must tell");
    explanation.rules_out.push_back("transport: both ends are posted, with different sizes");
    out.push_back(std::move(explanation));
  }
  return out;
}

}  // namespace unhang::detect
