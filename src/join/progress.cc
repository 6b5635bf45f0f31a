// SPDX-License-Identifier: Apache-2.0
#include "join/progress.h"

#include <algorithm>

namespace unhang::join {
namespace {

using model::Lane;
using model::Operation;
using model::OpState;
using model::Rank;

bool finished_by_itself(const Operation& op, bool gloo, const model::GroupStatus* status) {
  if (gloo) {
    return op.has(Operation::kRetired) ||
           (status != nullptr && op.op_id >= 0 && op.op_id <= status->last_completed);
  }
  if (op.state == OpState::kUnknown) return op.completed_ns > 0 || op.has(Operation::kRetired);
  return op.state == OpState::kCompleted;
}

const model::GroupStatus* status_of(const DumpGroups& groups, model::GroupIndex group) {
  const auto found = groups.status.find(group);
  return found == groups.status.end() ? nullptr : &found->second.numbers;
}

Lane& lane_of(Rank& rank, model::GroupIndex group) {
  return *std::lower_bound(rank.lanes.begin(), rank.lanes.end(), group,
                           [](const Lane& lane, model::GroupIndex wanted) { return lane.group < wanted; });
}

void fill_lanes(Rank& rank, const DumpGroups& groups, const model::Case& joined) {
  Lane* lane = nullptr;
  bool gloo = false;
  const model::GroupStatus* status = nullptr;
  for (std::size_t i = 0; i < rank.operations.size(); ++i) {
    Operation& op = rank.operations[i];
    if (lane == nullptr || lane->group != op.group) {
      lane = &lane_of(rank, op.group);
      gloo = joined.is_gloo(joined.groups[op.group]);
      status = status_of(groups, op.group);
    }
    if (op.has(Operation::kInner)) continue;
    if (finished_by_itself(op, gloo, status)) op.flags |= Operation::kFinished;
    auto& list = op.has(Operation::kP2p) ? lane->p2p : lane->collectives;
    list.push_back(static_cast<std::uint32_t>(i));
  }
}

// The order of the ring is the order of launch; sequence numbers of one group ascend with it. Damaged or
// mixed dumps may not: then sort, so that everything after may rely on it.
void order_collectives(Rank& rank, Lane& lane) {
  const auto by_sequence = [&](std::uint32_t a, std::uint32_t b) {
    return rank.operations[a].collective_sequence < rank.operations[b].collective_sequence;
  };
  if (!std::is_sorted(lane.collectives.begin(), lane.collectives.end(), by_sequence)) {
    std::stable_sort(lane.collectives.begin(), lane.collectives.end(), by_sequence);
  }
}

void settle_lane(Rank& rank, Lane& lane, const model::Case& joined, const DumpGroups& groups) {
  order_collectives(rank, lane);
  const auto& group = joined.groups[lane.group];
  const model::GroupStatus* status = status_of(groups, lane.group);
  // -1 means never, for both kinds of work: that is comparable always.
  const bool counts_collectives_only = !group.carries_p2p && !joined.is_gloo(group);
  const bool comparable = status != nullptr && (counts_collectives_only || status->last_enqueued < 0);
  std::optional<std::int64_t> completed;
  if (status != nullptr) lane.last_work = status->last_enqueued;
  if (comparable) {
    lane.last_enqueued = status->last_enqueued;
    completed = status->last_completed;
    lane.status_inferred = groups.status.at(lane.group).inferred;
  }
  for (std::size_t k = lane.collectives.size(); k-- > 0;) {
    const Operation& op = rank.operations[lane.collectives[k]];
    if (op.has(Operation::kFinished)) {
      completed = std::max(completed.value_or(op.collective_sequence), op.collective_sequence);
      break;
    }
  }
  for (const std::uint32_t index : lane.collectives) {
    Operation& op = rank.operations[index];
    if (completed && op.collective_sequence <= *completed) op.flags |= Operation::kFinished;
  }
  if (!lane.collectives.empty()) {
    const std::int64_t last = rank.operations[lane.collectives.back()].collective_sequence;
    lane.last_enqueued = std::max(lane.last_enqueued.value_or(last), last);
    // In-order execution: the oldest that is not finished tells that all before it are.
    for (const std::uint32_t index : lane.collectives) {
      const Operation& op = rank.operations[index];
      if (!op.has(Operation::kFinished)) {
        completed = std::max(completed.value_or(-1), op.collective_sequence - 1);
        break;
      }
    }
  } else if (!lane.last_enqueued && rank.operations_known && rank.tail_known && !rank.wrapped &&
             !rank.only_active) {
    lane.last_enqueued = -1;  // the ring goes back to the start and holds nothing of this group
  }
  lane.last_completed = completed;
}

// Entries of a ring follow each other; gaps mean that completed ones were left out when the dump was made.
void classify_ring(Rank& rank, const model::Dump& dump) {
  const auto& ops = rank.operations;
  if (ops.empty()) {
    rank.only_active = dump.has_entries && std::any_of(dump.status.begin(), dump.status.end(),
                                                       [](const auto& s) { return s.last_completed >= 0; });
    return;
  }
  const std::int64_t first = ops.front().record_id;
  const std::int64_t last = ops.back().record_id;
  if (first < 0) return;  // before record ids existed
  const bool gaps = last - first + 1 != static_cast<std::int64_t>(ops.size());
  const bool any_finished = std::any_of(ops.begin(), ops.end(), [](const Operation& op) {
    return op.state == OpState::kCompleted || op.has(Operation::kRetired);
  });
  rank.only_active = !any_finished && (gaps || first > 0);
  rank.wrapped = !rank.only_active && first > 0;
}

// Two neighbours that share a launch number belong to one batch. Its closing entry carries the state of both;
// where that is not in the dump, their own "scheduled" means nothing:
// - of an active-only dump, completed entries were left out, the closing one among them: the batch is
// finished;
// - of a dump that was cut off, it may stand behind the cut: nobody knows, so nobody may be said to wait in
// it.
void settle_unclosed_batches(Rank& rank) {
  if (rank.tail_known && !rank.only_active) return;
  auto& ops = rank.operations;
  const auto same_launch = [](const Operation& a, const Operation& b) {
    if (a.group != b.group || a.has(Operation::kP2p) != b.has(Operation::kP2p)) return false;
    return a.has(Operation::kP2p) ? a.p2p_sequence == b.p2p_sequence
                                  : a.collective_sequence == b.collective_sequence;
  };
  const auto settle = [](Operation& op) { op.flags |= Operation::kInner | Operation::kFinished; };
  for (std::size_t i = 0; i < ops.size(); ++i) {
    if (ops[i].has(Operation::kInner) || ops[i].has(Operation::kClosing)) continue;
    const bool next_is_same =
        i + 1 < ops.size() && !ops[i + 1].has(Operation::kClosing) && same_launch(ops[i], ops[i + 1]);
    const bool last_was_same =
        i > 0 && !ops[i - 1].has(Operation::kClosing) && same_launch(ops[i - 1], ops[i]);
    if (next_is_same || last_was_same) settle(ops[i]);
  }
  // The last operation before a cut may be the first of a batch.
  if (!rank.tail_known && !ops.empty() && !ops.back().has(Operation::kClosing)) settle(ops.back());
}

// Of an active-only dump, a batch of one leaves its inner entry behind just as longer ones do, and so does a
// batch whose other entries have left the ring; alone it looks like a transfer that is open. Its number
// tells: the group completed work with that number or a later one. That is weak where transfers overlap, so
// it counts only when the rank has nothing else open, or went on for longer than any host runs ahead of what
// it waits for.
void settle_leftovers(Rank& rank, const DumpGroups& groups) {
  if (!rank.only_active || rank.operations.empty()) return;
  constexpr std::int64_t kFurthestAhead = 128;  // operations; pipelines have a few dozen in flight
  const std::int64_t newest = rank.operations.back().record_id;
  std::vector<Operation*> leftovers;
  bool anything_open = false;
  for (Operation& op : rank.operations) {
    if (op.has(Operation::kFinished) || op.has(Operation::kInner)) continue;
    const model::GroupStatus* status = op.has(Operation::kP2p) ? status_of(groups, op.group) : nullptr;
    const bool leftover = status != nullptr && !op.has(Operation::kClosing) &&
                          op.p2p_sequence <= status->last_completed &&
                          op.collective_sequence < op.p2p_sequence;
    if (leftover && newest - op.record_id > kFurthestAhead) {
      op.flags |= Operation::kInner | Operation::kFinished;
    } else if (leftover) {
      leftovers.push_back(&op);
    } else {
      anything_open = true;
    }
  }
  if (anything_open) return;
  for (Operation* op : leftovers) op->flags |= Operation::kInner | Operation::kFinished;
}

}  // namespace

void trace_progress(JoinedDump& joined_dump, const DumpGroups& groups, const model::Case& joined,
                    Rank& rank) {
  model::Dump& dump = joined_dump.dump;
  rank.host = joined_dump.host;
  rank.input = joined_dump.input;
  rank.operations_known = dump.has_entries;
  rank.tail_known = dump.complete && dump.has_entries;
  rank.operations = std::move(dump.operations);
  for (Operation& op : rank.operations) op.group = groups.by_dump_group[op.group];
  classify_ring(rank, dump);
  settle_unclosed_batches(rank);
  for (const model::GroupIndex group : groups.member_of) {
    rank.lanes.emplace_back();
    rank.lanes.back().group = group;
  }
  fill_lanes(rank, groups, joined);
  for (Lane& lane : rank.lanes) settle_lane(rank, lane, joined, groups);
  settle_leftovers(rank, groups);
}

}  // namespace unhang::join
