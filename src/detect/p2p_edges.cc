// SPDX-License-Identifier: Apache-2.0
#include "detect/p2p_edges.h"

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>

#include "detect/rank_clock.h"

namespace unhang::detect {
namespace {

using model::Operation;
using model::OpKind;
using model::RankIndex;

using End = TransferEnd;

// The operations of one end of a directed edge, in order of launch.
struct Side {
  std::vector<End> ends;
  std::size_t finished() const {
    return static_cast<std::size_t>(
        std::count_if(ends.begin(), ends.end(), [](const End& end) { return end.finished; }));
  }
};

struct Edge {
  Side send;
  Side receive;
};

using Edges = std::map<std::pair<RankIndex, RankIndex>, Edge>;  // (source, destination)

std::optional<RankIndex> member(const model::Case& joined, const Operation& op, std::int32_t group_rank) {
  const auto& group = joined.groups[op.group];
  if (group_rank < 0) return std::nullopt;
  if (group.membership != model::Membership::kDeclared) {
    // Of a group whose order is not declared, only the world's is known: global ranks.
    return group.members.size() == joined.ranks.size() ? joined.find_rank(group_rank) : std::nullopt;
  }
  if (static_cast<std::size_t>(group_rank) >= group.members.size()) return std::nullopt;
  return group.members[static_cast<std::size_t>(group_rank)];
}

// Operations inside a batch are finished when its closing entry is; a batch that was never closed is not.
void collect(const model::Case& joined, RankIndex index, Edges& edges) {
  const model::Rank& rank = joined.ranks[index];
  std::unordered_map<model::GroupIndex, std::uint32_t> closing;  // the closing entry that follows, by group
  std::vector<std::pair<std::pair<RankIndex, RankIndex>, std::pair<bool, End>>> found;
  for (std::size_t i = rank.operations.size(); i-- > 0;) {
    const Operation& op = rank.operations[i];
    if (!op.has(Operation::kP2p)) continue;
    if (op.has(Operation::kClosing)) closing[op.group] = static_cast<std::uint32_t>(i);
    const auto& signature = joined.signature(op);
    const bool is_send = signature.kind == OpKind::kSend;
    if (!is_send && signature.kind != OpKind::kRecv) continue;
    const auto peer = member(joined, op, signature.peer);
    if (!peer || *peer == index) continue;
    End end{static_cast<std::uint32_t>(i), op.has(Operation::kFinished)};
    if (op.has(Operation::kInner)) {
      const auto at = closing.find(op.group);
      const bool closed = at != closing.end() && rank.operations[at->second].has(Operation::kFinished);
      end.finished = end.finished || closed;
    }
    found.push_back({is_send ? std::pair(index, *peer) : std::pair(*peer, index), {is_send, end}});
  }
  for (auto at = found.rbegin(); at != found.rend(); ++at) {
    Edge& edge = edges[at->first];
    (at->second.first ? edge.send : edge.receive).ends.push_back(at->second.second);
  }
}

bool reaches_back_to_start(const model::Rank& rank) {
  return !rank.wrapped && !rank.only_active && rank.operations_known;
}

class Matcher {
 public:
  explicit Matcher(const model::Case& joined) : x_case(joined), x_clock(joined) {}

  std::vector<PendingTransfer> match() {
    for (RankIndex index = 0; index < x_case.ranks.size(); ++index) collect(x_case, index, x_edges);
    for (const auto& [ranks, edge] : x_edges) {
      match_side(ranks.first, ranks.second, true, edge.send, edge.receive);
      match_side(ranks.second, ranks.first, false, edge.receive, edge.send);
    }
    std::sort(x_out.begin(), x_out.end(), [](const PendingTransfer& a, const PendingTransfer& b) {
      return std::pair(a.rank, a.operation) < std::pair(b.rank, b.operation);
    });
    return std::move(x_out);
  }

 private:
  void match_side(RankIndex rank, RankIndex peer, bool is_send, const Side& mine, const Side& theirs) {
    const model::Rank& other = x_case.ranks[peer];
    const bool counted = reaches_back_to_start(x_case.ranks[rank]) && reaches_back_to_start(other);
    std::vector<std::uint32_t> open_there;
    for (const End& end : theirs.ends) {
      if (!end.finished) open_there.push_back(end.operation);
    }
    const std::size_t open_here = mine.ends.size() - mine.finished();
    std::size_t open = 0;
    for (std::size_t k = 0; k < mine.ends.size(); ++k) {
      if (mine.ends[k].finished) continue;
      PendingTransfer pending{.rank = rank,
                              .peer = peer,
                              .is_send = is_send,
                              .operation = mine.ends[k].operation,
                              .matched = false,
                              .peer_known = other.tail_known,
                              .counted = counted,
                              .peer_operation = 0,
                              .peer_pending = false,
                              .size_differs = false};
      if (counted) {
        pending.matched = k < theirs.ends.size();
        if (pending.matched && !theirs.ends[k].finished) meet(pending, theirs.ends[k].operation);
      } else if (open < open_there.size()) {
        // Completed operations are forgotten at either end: what is open pairs up from the oldest.
        pending.matched = true;
        meet(pending, open_there[open]);
        // With different numbers of them, which belongs to which is not known: sizes prove nothing.
        if (open_here != open_there.size()) pending.size_differs = false;
      } else {
        pending.matched = posted_in_time(mine, k, theirs, rank, peer);
      }
      ++open;
      x_out.push_back(pending);
    }
  }

  // The peer has nothing open on this edge. Where its ring keeps what it finished, its newest end tells
  // whether it has come to this round: it was called nearer to the waiting call than to the one before.
  // Clocks may differ by less than half a round.
  bool posted_in_time(const Side& mine, std::size_t k, const Side& theirs, RankIndex rank,
                      RankIndex peer) const {
    if (theirs.ends.empty() || k == 0 || x_case.ranks[peer].only_active || x_case.ranks[rank].only_active)
      return false;
    const auto called = [&](RankIndex who, const End& end) {
      return x_clock.common(who, x_case.ranks[who].operations[end.operation].created_ns);
    };
    const std::int64_t now = called(rank, mine.ends[k]);
    const std::int64_t before = called(rank, mine.ends[k - 1]);
    return called(peer, theirs.ends.back()) > before + (now - before) / 2;
  }

  void meet(PendingTransfer& pending, std::uint32_t peer_operation) {
    pending.peer_pending = true;
    pending.peer_operation = peer_operation;
    const auto& mine = x_case.signature(x_case.ranks[pending.rank].operations[pending.operation]);
    const auto& theirs = x_case.signature(x_case.ranks[pending.peer].operations[peer_operation]);
    const auto elements = [&](const model::Signature& signature) {
      return model::total_elements(x_case.vocabulary.shapes.encoded(signature.input_shapes));
    };
    pending.size_differs = elements(mine) != elements(theirs) || mine.input_dtypes != theirs.input_dtypes;
  }

  const model::Case& x_case;
  const RankClock x_clock;
  Edges x_edges;
  std::vector<PendingTransfer> x_out;
};

}  // namespace

std::vector<TransferEdge> transfer_edges(const model::Case& joined) {
  Edges edges;
  for (RankIndex index = 0; index < joined.ranks.size(); ++index) collect(joined, index, edges);
  std::vector<TransferEdge> out;
  for (auto& [ranks, edge] : edges) {
    out.push_back({.source = ranks.first,
                   .destination = ranks.second,
                   .sends = std::move(edge.send.ends),
                   .receives = std::move(edge.receive.ends),
                   .counted = reaches_back_to_start(joined.ranks[ranks.first]) &&
                              reaches_back_to_start(joined.ranks[ranks.second])});
  }
  return out;
}

std::vector<PendingTransfer> pending_transfers(const model::Case& joined) {
  return Matcher(joined).match();
}

}  // namespace unhang::detect
