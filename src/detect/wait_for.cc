// SPDX-License-Identifier: Apache-2.0
#include "detect/wait_for.h"

#include <algorithm>
#include <deque>
#include <map>

#include "detect/rank_clock.h"

namespace unhang::detect {
namespace {

using model::Operation;
using model::RankIndex;

enum class Entered : std::uint8_t { kYes, kNo, kUnknown };

class GraphBuilder {
 public:
  GraphBuilder(const model::Case& joined, const std::vector<GroupProgress>& groups,
               const std::vector<PendingTransfer>& transfers)
      : x_case(joined), x_clock(joined), x_groups(groups), x_transfers(transfers) {}

  WaitGraph build() {
    x_graph.ranks.resize(x_case.ranks.size());
    for (const GroupProgress& group : x_groups) {
      for (const MemberProgress& member : group.members) {
        if (member.lag == Lag::kDeviceStopped) x_graph.ranks[member.rank].device_stopped = true;
      }
    }
    for (model::GroupIndex group = 0; group < x_groups.size(); ++group) add_collectives(group);
    for (std::size_t i = 0; i < x_transfers.size(); ++i) add_transfer(i);
    x_graph.link();
    return std::move(x_graph);
  }

 private:
  const Operation& head_of(const MemberProgress& member) const {
    return x_case.ranks[member.rank].operations[*member.head];
  }

  void add_collectives(model::GroupIndex group) {
    std::map<std::int64_t, std::vector<const MemberProgress*>> by_sequence;
    for (const MemberProgress& member : x_groups[group].members) {
      if (member.head && member.lag != Lag::kDeviceStopped) {
        by_sequence[head_of(member).collective_sequence].push_back(&member);
      }
    }
    for (const auto& [sequence, waiting] : by_sequence) {
      Stall stall;
      stall.group = group;
      stall.sequence = sequence;
      std::vector<std::int64_t> times;
      for (const MemberProgress* member : waiting) {
        stall.waiting.push_back(member->rank);
        times.push_back(x_clock.common(member->rank, head_of(*member).created_ns));
      }
      std::nth_element(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2),
                       times.end());
      stall.since_ns = times[times.size() / 2];
      for (const MemberProgress& member : x_groups[group].members) {
        const Entered entered = has_entered(group, member, sequence, stall.since_ns);
        if (entered == Entered::kNo) stall.absent.push_back(member.rank);
        if (entered == Entered::kUnknown) stall.unknown.push_back(member.rank);
      }
      x_graph.stalls.push_back(std::move(stall));
    }
  }

  Entered has_entered(model::GroupIndex group, const MemberProgress& member, std::int64_t sequence,
                      std::int64_t since_ns) const {
    const model::Rank& rank = x_case.ranks[member.rank];
    if (member.entered && *member.entered >= sequence) return Entered::kYes;
    if (!rank.input || !member.tail_known) {
      // Without its list of operations pg_status can still tell.
      const bool told = rank.input && !rank.operations_known && member.entered.has_value();
      return told ? Entered::kNo : Entered::kUnknown;
    }
    if (member.entered || member.lane == nullptr) return Entered::kNo;
    // Its number is not known, but its list is whole. Only completed operations are left out of an
    // active-only dump, and nobody can have completed what the others still wait in.
    if (rank.only_active) return x_groups[group].completed < sequence ? Entered::kNo : Entered::kUnknown;
    // What was enqueued after the oldest entry of its ring would still be in it.
    const std::int64_t ring_start =
        rank.operations.empty() ? 0 : x_clock.common(member.rank, rank.operations.front().created_ns);
    return ring_start != 0 && ring_start < since_ns ? Entered::kNo : Entered::kUnknown;
  }

  void add_transfer(std::size_t index) {
    const PendingTransfer& transfer = x_transfers[index];
    if (x_graph.ranks[transfer.rank].device_stopped) return;
    const Operation& op = x_case.ranks[transfer.rank].operations[transfer.operation];
    Stall stall;
    stall.transfer = index;
    stall.group = op.group;
    stall.sequence = op.p2p_sequence;
    stall.since_ns = x_clock.common(transfer.rank, op.created_ns);
    stall.waiting.push_back(transfer.rank);
    if (!transfer.matched) (transfer.peer_known ? stall.absent : stall.unknown).push_back(transfer.peer);
    x_graph.stalls.push_back(std::move(stall));
  }

  const model::Case& x_case;
  const RankClock x_clock;
  const std::vector<GroupProgress>& x_groups;
  const std::vector<PendingTransfer>& x_transfers;
  WaitGraph x_graph;
};

}  // namespace

void WaitGraph::link() {
  for (RankWaits& rank : ranks) {
    const bool device_stopped = rank.device_stopped;
    rank = RankWaits();
    rank.device_stopped = device_stopped;
  }
  for (std::size_t i = 0; i < stalls.size(); ++i) {
    const Stall& stall = stalls[i];
    for (const RankIndex rank : stall.waiting)
      (stall.everyone_entered() ? ranks[rank].stands_in : ranks[rank].waits_in).push_back(i);
    for (const RankIndex rank : stall.absent) ranks[rank].absent_in.push_back(i);
    for (const RankIndex rank : stall.unknown) ranks[rank].unknown_in.push_back(i);
    for (const RankIndex rank : stall.counted) ranks[rank].counted = true;
  }
}

std::vector<RankIndex> WaitGraph::roots() const {
  std::vector<RankIndex> out;
  for (RankIndex rank = 0; rank < ranks.size(); ++rank) {
    if (!ranks[rank].absent_in.empty() && !ranks[rank].waits() && !ranks[rank].device_stopped)
      out.push_back(rank);
  }
  return out;
}

std::vector<RankIndex> WaitGraph::silent() const {
  std::vector<RankIndex> out;
  for (RankIndex rank = 0; rank < ranks.size(); ++rank) {
    const RankWaits& here = ranks[rank];
    if (!here.unknown_in.empty() && here.absent_in.empty() && !here.waits() && !here.counted)
      out.push_back(rank);
  }
  return out;
}

std::vector<RankIndex> WaitGraph::not_explained_by(const std::vector<RankIndex>& from) const {
  std::vector<bool> rank_done(ranks.size(), false);
  std::vector<bool> stall_done(stalls.size(), false);
  std::deque<RankIndex> queue(from.begin(), from.end());
  for (const RankIndex rank : from) rank_done[rank] = true;
  while (!queue.empty()) {
    const RankWaits& here = ranks[queue.front()];
    queue.pop_front();
    for (const auto* list : {&here.absent_in, &here.unknown_in}) {
      for (const std::size_t stall : *list) {
        if (stall_done[stall]) continue;
        stall_done[stall] = true;
        for (const RankIndex waiting : stalls[stall].waiting) {
          if (rank_done[waiting]) continue;
          rank_done[waiting] = true;
          queue.push_back(waiting);
        }
      }
    }
  }
  std::vector<RankIndex> out;
  for (RankIndex rank = 0; rank < ranks.size(); ++rank) {
    if (ranks[rank].waits() && !rank_done[rank]) out.push_back(rank);
  }
  return out;
}

WaitGraph build_wait_graph(const model::Case& joined, const std::vector<GroupProgress>& groups,
                           const std::vector<PendingTransfer>& transfers) {
  return GraphBuilder(joined, groups, transfers).build();
}

}  // namespace unhang::detect
