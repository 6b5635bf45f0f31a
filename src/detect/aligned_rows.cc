// SPDX-License-Identifier: Apache-2.0
#include "detect/aligned_rows.h"

#include <algorithm>

#include "detect/aligned_collectives.h"
#include "detect/aligned_selection.h"
#include "detect/aligned_transfers.h"

namespace unhang::detect {

void for_each_row(const model::Case& joined, const RowFilter& filter, const RowSink& sink) {
  CallKeys keys(joined);
  const RowSelection selection(joined, filter);
  for (model::GroupIndex group = 0; group < joined.groups.size(); ++group) {
    if (selection.has_group(group)) align_collectives(joined, keys, selection, group, sink);
  }
  align_transfers(joined, selection, sink);
}

std::vector<model::GroupIndex> find_groups(const model::Case& joined, std::string_view text) {
  std::vector<model::GroupIndex> out;
  for (model::GroupIndex group = 0; group < joined.groups.size(); ++group) {
    const model::Group& candidate = joined.groups[group];
    if (joined.text(candidate.name) == text || joined.text(candidate.description) == text ||
        joined.group_label(group) == text) {
      out.push_back(group);
    }
  }
  return out;
}

RowSelection::RowSelection(const model::Case& joined, const RowFilter& filter)
    : x_case(joined), x_filter(filter) {
  x_groups.resize(joined.groups.size(), filter.groups.empty());
  for (const model::GroupIndex group : filter.groups) x_groups[group] = true;
  x_ranks.resize(joined.ranks.size(), filter.ranks.empty());
  for (const model::RankIndex rank : filter.ranks) x_ranks[rank] = true;
}

bool RowSelection::in_range(std::optional<std::int64_t> ordinal) const {
  if (!x_filter.from && !x_filter.to) return true;
  return ordinal && (!x_filter.from || *ordinal >= *x_filter.from) &&
         (!x_filter.to || *ordinal <= *x_filter.to);
}

bool RowSelection::is_operation(const model::CallRef& call) const {
  const auto& signature = x_case.signature(x_case.ranks[call.rank].operations[call.operation]);
  return x_case.text(signature.name) == x_filter.operation ||
         model::op_kind_name(signature.kind) == x_filter.operation;
}

bool RowSelection::keep(model::AlignedRow& row) const {
  if (x_filter.only_wrong && row.attention == model::Attention::kNone) return false;
  if (!x_filter.operation.empty() && !is_operation(row.call) &&
      std::none_of(row.cells.begin(), row.cells.end(),
                   [&](const auto& cell) { return cell.call && is_operation(*cell.call); })) {
    return false;
  }
  if (x_filter.ranks.empty()) return true;
  for (model::AlignedCell& cell : row.cells) {
    std::erase_if(cell.ranks, [&](model::RankIndex rank) { return !x_ranks[rank]; });
  }
  std::erase_if(row.cells, [](const model::AlignedCell& cell) { return cell.ranks.empty(); });
  return !row.cells.empty();
}

model::CellRelation cell_relation(Relation relation) {
  switch (relation) {
    case Relation::kMatched:
      return model::CellRelation::kMatched;
    case Relation::kOpMismatch:
      return model::CellRelation::kOpMismatch;
    case Relation::kDtypeMismatch:
      return model::CellRelation::kDtypeMismatch;
    case Relation::kSizeMismatch:
      return model::CellRelation::kSizeMismatch;
    case Relation::kUndecided:
      return model::CellRelation::kUndecided;
  }
  return model::CellRelation::kUndecided;
}

}  // namespace unhang::detect
