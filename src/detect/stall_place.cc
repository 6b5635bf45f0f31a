// SPDX-License-Identifier: Apache-2.0
#include "detect/stall_place.h"

namespace unhang::detect {

OperationRef place_of(const Analysis& analysis, const Stall& stall, model::RankIndex rank) {
  if (stall.transfer) return {rank, analysis.transfers[*stall.transfer].operation};
  for (const MemberProgress& member : analysis.groups[stall.group].members) {
    if (member.rank == rank && member.head) return {rank, *member.head};
  }
  return {rank, 0};
}

OperationRef place_of(const Analysis& analysis, const Stall& stall) {
  return place_of(analysis, stall, stall.waiting.front());
}

}  // namespace unhang::detect
