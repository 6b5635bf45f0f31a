// SPDX-License-Identifier: Apache-2.0
#include "detect/group_progress.h"

#include <algorithm>
#include <limits>

namespace unhang::detect {
namespace {

using model::Operation;
using model::OpKind;

std::optional<std::uint32_t> oldest_unfinished(const model::Rank& rank, const model::Lane& lane,
                                               std::int64_t after) {
  for (const std::uint32_t index : lane.collectives) {
    const Operation& op = rank.operations[index];
    if (!op.has(Operation::kFinished) && op.collective_sequence > after) return index;
  }
  return std::nullopt;
}

// One member can finish these before the others took part: a broadcast's root, for instance.
bool may_finish_early(OpKind kind) {
  return kind == OpKind::kBroadcast || kind == OpKind::kReduce || kind == OpKind::kGather ||
         kind == OpKind::kScatter || kind == OpKind::kOther || kind == OpKind::kCoalesced;
}

// How many operations peers that completed `completed` are ahead of one that stands in `sequence`. Damaged
// numbers can be as large as any.
std::int64_t operations_between(std::int64_t sequence, std::int64_t completed) {
  return std::min(completed, std::numeric_limits<std::int64_t>::max() - 1) - sequence + 1;
}

class GroupTracer {
 public:
  GroupTracer(const model::Case& joined, model::GroupIndex group) : x_case(joined), x_group(group) {}

  GroupProgress trace() {
    for (const model::RankIndex index : x_case.groups[x_group].members) add_member(index);
    collect_completed();
    for (MemberProgress& member : x_out.members) judge(member);
    return std::move(x_out);
  }

 private:
  void add_member(model::RankIndex index) {
    const model::Rank& rank = x_case.ranks[index];
    MemberProgress member;
    member.rank = index;
    member.tail_known = rank.tail_known;
    member.lane = rank.lane(x_group);
    if (member.lane != nullptr) {
      member.entered = member.lane->last_enqueued;
      member.completed = member.lane->last_completed;
      member.head = oldest_unfinished(rank, *member.lane, -1);
    }
    x_out.members.push_back(member);
  }

  // Nobody can have completed what no other member has entered: such a number is damage. Numbers that were
  // assigned to the group by order only are good enough to say where a rank stands, not to accuse others by.
  void collect_completed() {
    std::int64_t first = -1;
    std::int64_t second = -1;
    for (const MemberProgress& member : x_out.members) {
      const std::int64_t entered = member.entered.value_or(-1);
      second = std::max(second, std::min(first, entered));
      first = std::max(first, entered);
      x_least_entered = std::min(x_least_entered, entered);
    }
    for (MemberProgress& member : x_out.members) {
      if (!member.completed) continue;
      const std::int64_t others = member.entered == first ? second : first;
      if (others >= 0) member.completed = std::min(*member.completed, others);
      x_out.completed = std::max(x_out.completed, *member.completed);
      if (member.lane->status_inferred) continue;
      x_certain = std::max(x_certain, *member.completed);
      x_completed.push_back(*member.completed);
    }
    std::sort(x_completed.begin(), x_completed.end());
  }

  void judge(MemberProgress& member) {
    if (!member.head) return;
    const model::Rank& rank = x_case.ranks[member.rank];
    const Operation& head = rank.operations[*member.head];
    const std::int64_t sequence = head.collective_sequence;
    if (sequence > x_certain) {
      // Known by order only that peers are through: enough to excuse a watchdog, not to accuse a device.
      const std::int64_t behind = operations_between(sequence, x_out.completed);
      if (behind >= 1 && behind <= kStaleAtMost && x_least_entered >= sequence) mark_stale(member, behind);
      return;
    }
    const auto ahead = static_cast<std::size_t>(
        x_completed.end() - std::lower_bound(x_completed.begin(), x_completed.end(), sequence));
    if (may_finish_early(x_case.signature(head).kind)) {
      // A broadcast's root and its first leaves can be through while somebody has not come at all.
      if (ahead * 2 < x_out.members.size() || x_least_entered < sequence) return;
    }
    const std::int64_t behind = operations_between(sequence, x_certain);
    if (behind <= kStaleAtMost) return mark_stale(member, behind);
    member.lag = Lag::kDeviceStopped;
    member.operations_behind = behind;
  }

  // Nobody waits in what peers have completed; what comes after it may be a real wait.
  void mark_stale(MemberProgress& member, std::int64_t behind) {
    member.lag = Lag::kStaleWatchdog;
    member.operations_behind = behind;
    member.head = oldest_unfinished(x_case.ranks[member.rank], *member.lane, x_out.completed);
  }

  const model::Case& x_case;
  model::GroupIndex x_group;
  GroupProgress x_out;
  std::vector<std::int64_t> x_completed;  // of members that know it, ascending
  std::int64_t x_certain = -1;            // the highest number that somebody surely completed
  std::int64_t x_least_entered = std::numeric_limits<std::int64_t>::max();
};

}  // namespace

GroupProgress trace_group(const model::Case& joined, model::GroupIndex group) {
  return GroupTracer(joined, group).trace();
}

}  // namespace unhang::detect
