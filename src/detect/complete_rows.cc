// SPDX-License-Identifier: Apache-2.0
#include "detect/complete_rows.h"

#include <algorithm>
#include <cmath>

namespace unhang::detect {
namespace {

using model::Operation;
using model::OpKind;

constexpr std::size_t kMostRows = 4096;
constexpr double kLongestMs = 366.0 * 86400 * 1000;

}  // namespace

std::vector<CompleteRow> complete_rows(const Analysis& analysis, model::GroupIndex group,
                                       bool (*wanted)(const model::Case&, const model::Operation&)) {
  const auto& members = analysis.groups[group].members;
  std::vector<CompleteRow> rows;
  for (std::size_t m = 0; m < members.size(); ++m) {
    if (members[m].lane == nullptr) return {};
    const auto& operations = analysis.joined.ranks[members[m].rank].operations;
    const auto& lane = members[m].lane->collectives;
    auto row = rows.begin();  // both are ascending
    for (std::size_t k = lane.size() > kMostRows ? lane.size() - kMostRows : 0; k < lane.size(); ++k) {
      const Operation& op = operations[lane[k]];
      if (!wanted(analysis.joined, op)) continue;
      if (m == 0) {
        if (rows.empty() || rows.back().sequence < op.collective_sequence)
          rows.push_back({op.collective_sequence, {lane[k]}});
        continue;
      }
      while (row != rows.end() && row->sequence < op.collective_sequence) ++row;
      if (row == rows.end()) break;
      // Else a member before has not recorded it.
      if (row->sequence == op.collective_sequence && row->operations.size() == m)
        row->operations.push_back(lane[k]);
    }
    std::erase_if(rows, [&](const CompleteRow& candidate) { return candidate.operations.size() != m + 1; });
  }
  return rows;
}

bool has_call_times(const model::Case&, const Operation& op) {
  return op.has(Operation::kFinished) && op.completed_ns > 0 && op.created_ns > 0;
}

bool has_shared_duration(const model::Case& joined, const Operation& op) {
  if (!op.has(Operation::kFinished) || op.created_ns <= 0 || !duration_of(op)) return false;
  switch (joined.signature(op).kind) {
    case OpKind::kAllReduce:
    case OpKind::kAllGather:
    case OpKind::kReduceScatter:
    case OpKind::kAllToAll:
    case OpKind::kBarrier:
      return true;
    case OpKind::kCoalesced:
      return !op.has(Operation::kP2p);
    default:
      return false;
  }
}

std::optional<std::int64_t> duration_of(const Operation& op) {
  const auto milliseconds = static_cast<double>(op.duration_ms);
  if (!std::isfinite(milliseconds) || milliseconds <= 0 || milliseconds > kLongestMs) return std::nullopt;
  return std::max<std::int64_t>(std::llround(milliseconds * 1e6), 1);
}

}  // namespace unhang::detect
