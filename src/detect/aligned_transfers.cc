// SPDX-License-Identifier: Apache-2.0
#include "detect/aligned_transfers.h"

#include <algorithm>

#include "detect/p2p_edges.h"

namespace unhang::detect {
namespace {

using model::AlignedCell;
using model::AlignedRow;
using model::Attention;
using model::CellRelation;
using model::CellState;
using model::Operation;

// The two ends of one transfer; null: that end is not recorded.
struct Pair {
  const TransferEnd* send = nullptr;
  const TransferEnd* receive = nullptr;
  bool comparable = true;  // surely the same transfer
};

// Which send met which receive. Counted from the start where both rings hold it; else finished ones pair up
// from the newest backwards and open ones from the oldest on, and where their numbers differ, sizes prove
// nothing.
std::vector<Pair> pair_up(const TransferEdge& edge) {
  std::vector<Pair> pairs;
  if (edge.counted) {
    for (std::size_t k = 0; k < std::max(edge.sends.size(), edge.receives.size()); ++k) {
      pairs.push_back({k < edge.sends.size() ? &edge.sends[k] : nullptr,
                       k < edge.receives.size() ? &edge.receives[k] : nullptr});
    }
    return pairs;
  }
  const auto split = [](const std::vector<TransferEnd>& ends, bool finished) {
    std::vector<const TransferEnd*> out;
    for (const TransferEnd& end : ends) {
      if (end.finished == finished) out.push_back(&end);
    }
    return out;
  };
  const auto sent = split(edge.sends, true);
  const auto received = split(edge.receives, true);
  const std::size_t done = std::max(sent.size(), received.size());
  for (std::size_t k = done; k-- > 0;) {  // k: how many newer ones there are
    pairs.push_back({k < sent.size() ? sent[sent.size() - 1 - k] : nullptr,
                     k < received.size() ? received[received.size() - 1 - k] : nullptr, false});
  }
  const auto sending = split(edge.sends, false);
  const auto receiving = split(edge.receives, false);
  const bool same_number = sending.size() == receiving.size();
  for (std::size_t k = 0; k < std::max(sending.size(), receiving.size()); ++k) {
    pairs.push_back({k < sending.size() ? sending[k] : nullptr, k < receiving.size() ? receiving[k] : nullptr,
                     same_number});
  }
  return pairs;
}

class Aligner {
 public:
  Aligner(const model::Case& joined, const RowSelection& selection)
      : x_case(joined), x_selection(selection) {}

  void run(const TransferEdge& edge, const RowSink& sink) {
    const std::vector<Pair> pairs = pair_up(edge);
    std::optional<std::int64_t> first_waiting;
    for (std::size_t k = 0; k < pairs.size(); ++k) {
      AlignedRow row = make_row(edge, pairs[k]);
      if (edge.counted) row.ordinal = static_cast<std::int64_t>(k);
      row.rows_after = static_cast<std::int64_t>(pairs.size() - 1 - k);
      weigh(row, pairs[k], first_waiting);
      if (!x_selection.has_group(group_of(row.source, pairs[k].send, row.group)) &&
          !x_selection.has_group(group_of(row.destination, pairs[k].receive, row.group))) {
        continue;
      }
      if (x_selection.in_range(row.ordinal) && x_selection.keep(row)) sink(row);
    }
  }

 private:
  const Operation& operation(model::RankIndex rank, const TransferEnd& end) const {
    return x_case.ranks[rank].operations[end.operation];
  }

  model::GroupIndex group_of(model::RankIndex rank, const TransferEnd* end,
                             model::GroupIndex otherwise) const {
    return end != nullptr ? operation(rank, *end).group : otherwise;
  }

  AlignedRow make_row(const TransferEdge& edge, const Pair& pair) const {
    AlignedRow row;
    row.is_transfer = true;
    row.source = edge.source;
    row.destination = edge.destination;
    const bool by_send = pair.send != nullptr;
    row.call = by_send ? model::CallRef{edge.source, pair.send->operation}
                       : model::CallRef{edge.destination, pair.receive->operation};
    row.group = x_case.ranks[row.call.rank].operations[row.call.operation].group;
    row.cells.push_back(make_cell(edge.source, pair.send, pair.receive));
    row.cells.push_back(make_cell(edge.destination, pair.receive, pair.send));
    if (pair.send != nullptr && pair.receive != nullptr) compare(row, pair);
    return row;
  }

  AlignedCell make_cell(model::RankIndex rank, const TransferEnd* mine, const TransferEnd* other) const {
    AlignedCell cell{.ranks = {rank}};
    if (mine != nullptr) {
      const bool started = operation(rank, *mine).state == model::OpState::kStarted;
      cell.call = model::CallRef{rank, mine->operation};
      cell.state = mine->finished ? CellState::kDone : started ? CellState::kStarted : CellState::kEnqueued;
      return cell;
    }
    const model::Rank& silent = x_case.ranks[rank];
    if (other->finished) {
      cell.state = silent.input && silent.wrapped ? CellState::kForgotten : CellState::kUnknown;
    } else {
      cell.state = silent.tail_known ? CellState::kNotArrived : CellState::kUnknown;
    }
    return cell;
  }

  void compare(AlignedRow& row, const Pair& pair) const {
    const auto& send = x_case.signature(operation(row.source, *pair.send));
    const auto& receive = x_case.signature(operation(row.destination, *pair.receive));
    const auto elements = [&](const model::Signature& signature) {
      return model::total_elements(x_case.vocabulary.shapes.encoded(
          signature.input_shapes != 0 ? signature.input_shapes : signature.output_shapes));
    };
    if (pair.comparable && send.input_dtypes != receive.input_dtypes) {
      row.relation = CellRelation::kDtypeMismatch;
    } else if (pair.comparable && elements(send) != elements(receive)) {
      row.relation = CellRelation::kSizeMismatch;
    } else if (pair.send->finished != pair.receive->finished) {
      row.relation = CellRelation::kStateMismatch;
    }
    // Of two ends nobody is in the majority: both are marked.
    row.tied = row.relation > CellRelation::kStateMismatch;
    for (AlignedCell& cell : row.cells) cell.relation = row.relation;
    row.cells.back().own_call = row.tied;
  }

  void weigh(AlignedRow& row, const Pair& pair, std::optional<std::int64_t>& first_waiting) const {
    const auto is_open = [](const TransferEnd* end) { return end != nullptr && !end->finished; };
    const bool waits = is_open(pair.send) || is_open(pair.receive);
    if (row.relation > CellRelation::kStateMismatch) {
      row.attention = Attention::kWrong;
    } else if (waits && row.relation != CellRelation::kStateMismatch) {
      row.behind = first_waiting;
      row.attention = first_waiting ? Attention::kNoted : Attention::kWrong;
      if (!first_waiting && row.ordinal) first_waiting = row.ordinal;
    } else if (waits) {
      row.attention = Attention::kNoted;
    }
  }

  const model::Case& x_case;
  const RowSelection& x_selection;
};

}  // namespace

void align_transfers(const model::Case& joined, const RowSelection& selection, const RowSink& sink) {
  Aligner aligner(joined, selection);
  for (const TransferEdge& edge : transfer_edges(joined)) aligner.run(edge, sink);
}

}  // namespace unhang::detect
