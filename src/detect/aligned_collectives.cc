// SPDX-License-Identifier: Apache-2.0
#include "detect/aligned_collectives.h"

#include <algorithm>
#include <limits>
#include <queue>

#include "detect/group_progress.h"
#include "detect/iterations.h"
#include "detect/rank_clock.h"
#include "detect/rows.h"

namespace unhang::detect {
namespace {

using model::AlignedCell;
using model::AlignedRow;
using model::Attention;
using model::CellRelation;
using model::CellState;
using model::Operation;

constexpr std::int64_t kExhausted = std::numeric_limits<std::int64_t>::max();
// How many members may be looked at for each entry that is found, and how many in any case.
constexpr std::size_t kVisitsPerEntry = 64;
constexpr std::size_t kFreeVisits = std::size_t{1} << 22;
constexpr std::uint32_t kNoKey = std::numeric_limits<std::uint32_t>::max();

bool has_entered(CellState state) {
  return state == CellState::kEnqueued || state == CellState::kStarted || state == CellState::kDone;
}

// Where one member stands in its list.
struct Cursor {
  const MemberProgress* member = nullptr;
  const model::Rank* rank = nullptr;
  std::size_t at = 0;
  std::int64_t next = kExhausted;  // ordinal of the entry at `at`
  std::int64_t head = kExhausted;  // its oldest operation that is really unfinished
  std::uint32_t operation() const { return member->lane->collectives[at]; }

  void settle() {
    const bool more = member->lane != nullptr && at < member->lane->collectives.size();
    next = more ? rank->operations[operation()].collective_sequence : kExhausted;
  }
  void pass(std::int64_t ordinal) {
    while (next <= ordinal && next != kExhausted) {
      ++at;
      settle();
    }
  }
};

// What one member did in the row; members that are equal in `key` and `state` share a cell.
struct Entry {
  model::RankIndex rank = 0;
  std::uint32_t operation = 0;
  std::uint32_t key = kNoKey;
  CellState state = CellState::kUnknown;

  auto standing() const { return std::pair(state, key); }
};

class Aligner {
 public:
  Aligner(const model::Case& joined, CallKeys& keys, const RowSelection& selection, model::GroupIndex group)
      : x_case(joined),
        x_clock(joined),
        x_keys(keys),
        x_selection(selection),
        x_group(group),
        x_progress(trace_group(joined, group)),
        x_period(find_period(joined, group)) {
    for (const MemberProgress& member : x_progress.members) {
      Cursor cursor{.member = &member, .rank = &joined.ranks[member.rank]};
      if (member.head) cursor.head = cursor.rank->operations[*member.head].collective_sequence;
      cursor.settle();
      x_first_head = std::min(x_first_head, cursor.head);
      x_row_members.push_back(x_cursors.size());
      if (cursor.next == kExhausted) {
        x_cursors.push_back(cursor);
        continue;
      }
      x_last = std::max(x_last, cursor.rank->operations[member.lane->collectives.back()].collective_sequence);
      x_cursors.push_back(cursor);
    }
  }

  void run(const RowSink& sink) {
    for (;;) {
      const std::int64_t ordinal = x_sparse ? next_sparse() : next_dense();
      if (ordinal == kExhausted) return;
      if (x_selection.to() && ordinal > *x_selection.to()) return;
      collect(ordinal);
      // Also rows before the range are judged: a later one may stand behind them.
      judge(ordinal);
      if (x_selection.in_range(ordinal) && x_selection.keep(x_row)) sink(x_row);
    }
  }

 private:
  std::int64_t next_dense() {
    std::int64_t ordinal = kExhausted;
    for (const Cursor& cursor : x_cursors) ordinal = std::min(ordinal, cursor.next);
    x_visits += x_cursors.size();
    if (x_visits > kVisitsPerEntry * x_consumed + kFreeVisits) {
      x_sparse = true;
      for (std::size_t i = 0; i < x_cursors.size(); ++i) await(i);
      return next_sparse();
    }
    return ordinal;
  }

  // Members whose numbers have nothing in common (hostile, or dumps that do not belong together) would make
  // the table grow with the square of the input: from there on a row holds only those who recorded it.
  std::int64_t next_sparse() {
    x_row_members.clear();
    if (x_waiting.empty()) return kExhausted;
    const std::int64_t ordinal = x_waiting.top().first;
    while (!x_waiting.empty() && x_waiting.top().first == ordinal) {
      x_row_members.push_back(x_waiting.top().second);  // equal ordinals come by member
      x_waiting.pop();
    }
    return ordinal;
  }

  void await(std::size_t cursor) {
    if (x_cursors[cursor].next != kExhausted) x_waiting.push({x_cursors[cursor].next, cursor});
  }

  void collect(std::int64_t ordinal) {
    x_entries.clear();
    x_earliest_ns = 0;
    for (const std::size_t index : x_row_members) {
      Cursor& cursor = x_cursors[index];
      Entry entry{.rank = cursor.member->rank};
      if (cursor.next == ordinal) {
        const Operation& op = cursor.rank->operations[cursor.operation()];
        entry.operation = cursor.operation();
        entry.key = x_keys.key(*cursor.rank, entry.operation);
        entry.state = op.has(Operation::kFinished)           ? CellState::kDone
                      : op.state == model::OpState::kStarted ? CellState::kStarted
                                                             : CellState::kEnqueued;
        const std::int64_t created = x_clock.common(entry.rank, op.created_ns);
        if (created != 0 && (x_earliest_ns == 0 || created < x_earliest_ns)) {
          x_earliest_ns = created;
        }
        cursor.pass(ordinal);
        ++x_consumed;
        if (x_sparse) await(index);
      }
      x_entries.push_back(entry);
    }
    for (std::size_t i = 0; i < x_entries.size(); ++i) {
      Entry& entry = x_entries[i];
      if (entry.key == kNoKey) entry.state = without_entry(*x_cursors[x_row_members[i]].member, ordinal);
    }
  }

  // What is known of a member that has no entry of this ordinal: from its counters, and from what its dump
  // would hold.
  CellState without_entry(const MemberProgress& member, std::int64_t ordinal) const {
    const model::Rank& rank = x_case.ranks[member.rank];
    if (member.entered && *member.entered >= ordinal) {
      if (rank.wrapped) return CellState::kForgotten;
      return member.completed && *member.completed >= ordinal ? CellState::kDone : CellState::kUnknown;
    }
    if (!rank.input || !member.tail_known) {
      const bool told = rank.input && !rank.operations_known && member.entered.has_value();
      return told ? CellState::kNotArrived : CellState::kUnknown;
    }
    if (member.entered || member.lane == nullptr) return CellState::kNotArrived;
    if (rank.only_active) {
      return x_progress.completed < ordinal ? CellState::kNotArrived : CellState::kUnknown;
    }
    const std::int64_t ring_start =
        rank.operations.empty() ? 0 : x_clock.common(member.rank, rank.operations.front().created_ns);
    return ring_start != 0 && ring_start < x_earliest_ns ? CellState::kNotArrived : CellState::kUnknown;
  }

  void judge(std::int64_t ordinal) {
    const Majority majority = count_keys();
    x_row.group = x_group;
    x_row.ordinal = ordinal;
    x_row.iteration = x_period ? x_period->iteration(ordinal) : std::nullopt;
    x_row.rows_after = x_last - ordinal;
    x_row.tied = majority.tied;
    make_cells(majority);
    if (majority.tied) mark_tie(majority);
    mark_states();
    x_row.relation = CellRelation::kMatched;
    for (const AlignedCell& cell : x_row.cells) x_row.relation = std::max(x_row.relation, cell.relation);
    weigh(ordinal);
  }

  Majority count_keys() {
    const auto first = std::find_if(x_entries.begin(), x_entries.end(),
                                    [](const Entry& entry) { return entry.key != kNoKey; });
    const bool alike = std::all_of(first, x_entries.end(), [&](const Entry& entry) {
      return entry.key == first->key || entry.key == kNoKey;
    });
    if (alike) return {.key = first->key, .count = 1, .tied = false};
    std::vector<Cell> row;
    for (const Entry& entry : x_entries) {
      if (entry.key != kNoKey) row.push_back({entry.rank, entry.operation, entry.key});
    }
    return majority_of(row);
  }

  void make_cells(const Majority& majority) {
    std::stable_sort(x_entries.begin(), x_entries.end(),
                     [](const Entry& a, const Entry& b) { return a.standing() < b.standing(); });
    x_row.cells.clear();
    bool named = false;
    for (auto at = x_entries.begin(); at != x_entries.end();) {
      const auto end = std::find_if(at, x_entries.end(),
                                    [&](const Entry& entry) { return entry.standing() != at->standing(); });
      AlignedCell cell{.ranks = {}, .state = at->state};
      for (auto entry = at; entry != end; ++entry) cell.ranks.push_back(entry->rank);
      std::sort(cell.ranks.begin(), cell.ranks.end());
      if (at->key != kNoKey) {
        cell.call = model::CallRef{at->rank, at->operation};
        compare(cell, at->key, majority);
        if (at->key == majority.key && !named) {
          x_row.call = *cell.call;
          named = true;
        }
      }
      x_row.cells.push_back(std::move(cell));
      at = end;
    }
    std::sort(x_row.cells.begin(), x_row.cells.end(),
              [](const AlignedCell& a, const AlignedCell& b) { return a.ranks.front() < b.ranks.front(); });
  }

  void compare(AlignedCell& cell, std::uint32_t key, const Majority& majority) const {
    const Operation& op = x_case.ranks[cell.call->rank].operations[cell.call->operation];
    cell.relation = cell_relation(x_keys.relate(key, majority.key));
    cell.own_call = key != majority.key;
    cell.contradicts_itself = CallKeys::contradicts_itself(x_case, op, x_cursors.size());
    if (cell.contradicts_itself) cell.relation = std::max(cell.relation, CellRelation::kSizeMismatch);
  }

  // Without a majority nobody can be said to be right: all calls are marked and shown.
  void mark_tie(const Majority& majority) {
    CellRelation worst = CellRelation::kMatched;
    for (const AlignedCell& cell : x_row.cells) worst = std::max(worst, cell.relation);
    for (AlignedCell& cell : x_row.cells) {
      if (!cell.call) continue;
      const model::Rank& rank = x_case.ranks[cell.call->rank];
      if (x_keys.key(rank, cell.call->operation) == majority.key) cell.relation = worst;
      cell.own_call = true;
    }
  }

  // Some have finished and others, who entered too, have not.
  void mark_states() {
    std::size_t done = 0;
    std::size_t open = 0;
    for (const AlignedCell& cell : x_row.cells) {
      if (!has_entered(cell.state)) continue;
      (cell.state == CellState::kDone ? done : open) += cell.ranks.size();
    }
    if (done == 0 || open == 0) return;
    for (AlignedCell& cell : x_row.cells) {
      const bool is_minority = (cell.state == CellState::kDone) == (done < open);
      if (has_entered(cell.state) && is_minority) {
        cell.relation = std::max(cell.relation, CellRelation::kStateMismatch);
      }
    }
  }

  void weigh(std::int64_t ordinal) {
    const bool mismatch = x_row.relation > CellRelation::kStateMismatch;
    const bool waits = x_first_head <= ordinal &&
                       std::any_of(x_row.cells.begin(), x_row.cells.end(), [](const AlignedCell& cell) {
                         return cell.state == CellState::kEnqueued || cell.state == CellState::kStarted;
                       });
    const bool absent = std::any_of(x_row.cells.begin(), x_row.cells.end(), [](const AlignedCell& cell) {
      return cell.state == CellState::kNotArrived;
    });
    x_row.behind.reset();
    if (waits && x_first_waiting && !mismatch) x_row.behind = x_first_waiting;
    if (waits && !x_first_waiting) x_first_waiting = ordinal;
    if (mismatch || (waits && !x_row.behind)) {
      x_row.attention = Attention::kWrong;
    } else if (waits || absent || x_row.relation == CellRelation::kStateMismatch) {
      x_row.attention = Attention::kNoted;
    } else {
      x_row.attention = Attention::kNone;
    }
  }

  const model::Case& x_case;
  const RankClock x_clock;
  CallKeys& x_keys;
  const RowSelection& x_selection;
  model::GroupIndex x_group;
  GroupProgress x_progress;
  std::optional<Period> x_period;
  std::vector<Cursor> x_cursors;
  std::int64_t x_first_head = kExhausted;  // of all members
  std::vector<std::size_t> x_row_members;  // cursors that the row at hand looks at
  bool x_sparse = false;
  std::size_t x_visits = 0, x_consumed = 0;              // members looked at, entries found
  using Waiting = std::pair<std::int64_t, std::size_t>;  // ordinal, cursor
  std::priority_queue<Waiting, std::vector<Waiting>, std::greater<>> x_waiting;
  std::vector<Entry> x_entries;
  std::int64_t x_earliest_ns = 0;  // when the first member entered the row
  std::int64_t x_last = 0;
  std::optional<std::int64_t> x_first_waiting;
  AlignedRow x_row;
};

}  // namespace

void align_collectives(const model::Case& joined, CallKeys& keys, const RowSelection& selection,
                       model::GroupIndex group, const RowSink& sink) {
  Aligner(joined, keys, selection, group).run(sink);
}

}  // namespace unhang::detect
