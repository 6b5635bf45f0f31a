// SPDX-License-Identifier: Apache-2.0
#include "detect/joined_rows.h"

#include <algorithm>

#include "detect/aligned_rows.h"
#include "detect/rows.h"

namespace unhang::detect {
namespace {

std::size_t count_calls(const model::Case& joined) {
  std::size_t count = 0;
  for (const model::Rank& rank : joined.ranks) {
    for (const model::Lane& lane : rank.lanes) count += lane.collectives.size() + lane.p2p.size();
  }
  return count;
}

}  // namespace

model::JoinedRows joined_rows(const model::Case& joined, std::size_t most) {
  model::JoinedRows out;
  out.complete = count_calls(joined) <= most;
  CallKeys keys(joined);
  std::size_t used = 0;
  RowFilter filter;
  filter.only_wrong = !out.complete;
  const auto created = [&](const model::CallRef& call) {
    return joined.ranks[call.rank].operations[call.operation].created_ns;
  };
  for_each_row(joined, filter, [&](const model::AlignedRow& row) {
    model::JoinedCalls calls;
    if (row.is_transfer) {
      for (const model::AlignedCell& cell : row.cells) {
        if (cell.call) calls.push_back(*cell.call);
      }
    } else {
      for (const Cell& cell : row_of(joined, keys, row.group, *row.ordinal)) {
        calls.push_back({cell.rank, cell.operation});
      }
    }
    std::erase_if(calls, [&](const model::CallRef& call) { return created(call) == 0; });
    if (calls.size() < 2 || used + calls.size() > most) return;
    used += calls.size();
    std::sort(calls.begin(), calls.end(), [&](const model::CallRef& a, const model::CallRef& b) {
      return std::pair(created(a), a.rank) < std::pair(created(b), b.rank);
    });
    out.rows.push_back(std::move(calls));
  });
  return out;
}

}  // namespace unhang::detect
