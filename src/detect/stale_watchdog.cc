// SPDX-License-Identifier: Apache-2.0
//
// An operation that one rank still shows as unfinished although its peers completed it, by one or two: the
// watchdog looks from time to time and had not looked yet when the dump was written. No fault; said so that
// nobody chases it.
#include "detect/detector.h"
#include "detect/wording.h"

namespace unhang::detect {

std::vector<Explanation> find_stale_watchdog(const Analysis& analysis) {
  const model::Case& joined = analysis.joined;
  std::vector<Explanation> out;
  for (model::GroupIndex group = 0; group < analysis.groups.size(); ++group) {
    Explanation explanation;
    for (const MemberProgress& member : analysis.groups[group].members) {
      if (member.lag != Lag::kStaleWatchdog || explanation.evidence.size() >= 4) continue;
      const auto& rank = joined.ranks[member.rank];
      for (const std::uint32_t index : member.lane->collectives) {
        if (rank.operations[index].has(model::Operation::kFinished)) continue;
        explanation.evidence.push_back({member.rank, index});
        break;
      }
    }
    if (explanation.evidence.empty()) continue;
    explanation.category = model::Category::kHealthy;
    explanation.cause = "stale_watchdog";
    explanation.strength = model::Confidence::kMedium;
    explanation.explains_stall = false;
    const OperationRef first = explanation.evidence.front();
    explanation.headline = "rank " + std::to_string(joined.ranks[first.rank].global_rank) + " shows " +
                           operation_text(joined, joined.ranks[first.rank].operations[first.operation]) +
                           " as unfinished although peers completed it: its watchdog had not looked yet";
    out.push_back(std::move(explanation));
  }
  return out;
}

}  // namespace unhang::detect
