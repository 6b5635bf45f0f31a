// SPDX-License-Identifier: Apache-2.0
//
// The filter of the aligned table, made ready for asking once a row.
#pragma once

#include <vector>

#include "detect/aligned_rows.h"
#include "detect/call_keys.h"

namespace unhang::detect {

class RowSelection {
 public:
  RowSelection(const model::Case& joined, const RowFilter& filter);

  bool has_group(model::GroupIndex group) const { return x_groups[group]; }
  bool in_range(std::optional<std::int64_t> ordinal) const;
  std::optional<std::int64_t> from() const { return x_filter.from; }
  std::optional<std::int64_t> to() const { return x_filter.to; }
  // Whether the finished row is wanted; removes the cells of ranks that are not.
  bool keep(model::AlignedRow& row) const;

 private:
  bool is_operation(const model::CallRef& call) const;

  const model::Case& x_case;
  const RowFilter& x_filter;
  std::vector<bool> x_groups;
  std::vector<bool> x_ranks;
};

model::CellRelation cell_relation(Relation relation);

}  // namespace unhang::detect
