// SPDX-License-Identifier: Apache-2.0
//
// The aligned table: one row for each collective of a group (by its ordinal) and for each point-to-point
// transfer, one cell for each class of ranks that stand alike in it. Values only; no text, so that a row of a
// thousand ranks is one small record when all of them agree. Made by detect/, shown by report/.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "model/case.h"

namespace unhang::model {

enum class CellState : std::uint8_t {
  kNotArrived,  // its evidence shows that it did not enter
  kEnqueued,    // its host made the call; nothing shows that it ended
  kStarted,     // it runs on the device
  kDone,
  kForgotten,  // older than what the rank still remembers
  kUnknown,    // no dump, or one that does not reach this far
};

// How a cell relates to the majority of its row; of several differences the one that stands last here counts.
enum class CellRelation : std::uint8_t {
  kMatched,
  kUndecided,  // sizes may differ by design, and the dump does not hold what would decide
  kStateMismatch,
  kSizeMismatch,
  kDtypeMismatch,
  kOpMismatch,
};

enum class Attention : std::uint8_t {
  kNone,
  kNoted,  // differs, but is a consequence of another row, or no fault (a watchdog that had not looked yet)
  kWrong,
};

// Where to look up what was called.
struct CallRef {
  RankIndex rank = 0;
  std::uint32_t operation = 0;  // index in Rank::operations
};

struct AlignedCell {
  std::vector<RankIndex> ranks;  // ascending
  CellState state = CellState::kUnknown;
  CellRelation relation = CellRelation::kMatched;
  bool own_call = false;             // it calls something else than the row's `call`
  bool contradicts_itself = false;   // input and output of its own call do not fit together
  std::optional<CallRef> call = {};  // of its first rank; none where no entry is recorded
};

struct AlignedRow {
  bool is_transfer = false;
  GroupIndex group = 0;  // of a transfer: the one that the end which is `call` recorded
  // Collectives: the number in the group. Transfers: the k-th of its directed edge, from 0; none where the
  // rings no longer tell.
  std::optional<std::int64_t> ordinal;
  std::optional<std::int64_t> iteration;
  RankIndex source = 0, destination = 0;           // transfers only
  CallRef call;                                    // as the majority calls it
  std::vector<AlignedCell> cells;                  // by their first rank; transfers: source, destination
  CellRelation relation = CellRelation::kMatched;  // the worst of the cells
  bool tied = false;  // no majority: two calls have as many ranks, so nobody can be said to differ
  Attention attention = Attention::kNone;
  std::optional<std::int64_t> behind;  // it waits because this earlier row of its group does not end
  std::int64_t rows_after = 0;         // about how many rows its group (or edge) still has
};

// The calls of one row, in the order in which they were made; at least two.
using JoinedCalls = std::vector<CallRef>;

// What arrows of a trace join.
struct JoinedRows {
  std::vector<JoinedCalls> rows;
  bool complete = true;  // false: only rows that need attention, and of them no more than fit
};

// The words of JSON and of the command line: "not_arrived", "op_mismatch".
std::string_view name_of(CellState value);
std::string_view name_of(CellRelation value);

}  // namespace unhang::model
