// SPDX-License-Identifier: Apache-2.0
#include "model/aligned_table.h"

namespace unhang::model {

std::string_view name_of(CellState value) {
  switch (value) {
    case CellState::kNotArrived:
      return "not_arrived";
    case CellState::kEnqueued:
      return "enqueued";
    case CellState::kStarted:
      return "started";
    case CellState::kDone:
      return "done";
    case CellState::kForgotten:
      return "forgotten";
    case CellState::kUnknown:
      return "unknown";
  }
  return "unknown";
}

std::string_view name_of(CellRelation value) {
  switch (value) {
    case CellRelation::kMatched:
      return "matched";
    case CellRelation::kUndecided:
      return "undecided";
    case CellRelation::kStateMismatch:
      return "state_mismatch";
    case CellRelation::kSizeMismatch:
      return "size_mismatch";
    case CellRelation::kDtypeMismatch:
      return "dtype_mismatch";
    case CellRelation::kOpMismatch:
      return "op_mismatch";
  }
  return "undecided";
}

}  // namespace unhang::model
