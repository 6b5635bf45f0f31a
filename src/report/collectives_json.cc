// SPDX-License-Identifier: Apache-2.0
#include "report/collectives_json.h"

#include <algorithm>

#include "report/call_words.h"

namespace unhang::report {
namespace {

std::string_view name_of(model::Attention attention) {
  switch (attention) {
    case model::Attention::kNone:
      return "none";
    case model::Attention::kNoted:
      return "noted";
    case model::Attention::kWrong:
      return "wrong";
  }
  return "none";
}

std::string_view name_of(model::Membership membership) {
  switch (membership) {
    case model::Membership::kDeclared:
      return "declared";
    case model::Membership::kInferred:
      return "inferred";
    case model::Membership::kUnknown:
      return "unknown";
  }
  return "unknown";
}

}  // namespace

CollectivesJson::CollectivesJson(const model::Case& joined, ByteSink sink)
    : x_case(joined), x_out(std::move(sink)) {
  x_out.raw("{\n\"schema\": \"unhang.collectives/1\",\n\"tool\": {\"name\": \"unhang\", \"version\": ");
  x_out.text(UNHANG_VERSION).raw("},\n\"groups\": [");
  for (std::size_t i = 0; i < joined.groups.size(); ++i) {
    const model::Group& group = joined.groups[i];
    x_out.raw(i == 0 ? "\n" : ",\n").raw("  {\"id\": ").number(static_cast<std::int64_t>(i));
    x_out.raw(", \"name\": ").text(joined.text(group.name));
    x_out.raw(", \"description\": ").text(joined.text(group.description));
    x_out.raw(", \"backend\": ").text(joined.text(group.backend));
    x_out.raw(", \"membership\": ").text(name_of(group.membership)).raw(", \"ranks\": ");
    add_ranks(group.members);
    x_out.raw("}");
  }
  x_out.raw("\n],\n\"rows\": [");
}

void CollectivesJson::add(const model::AlignedRow& row) {
  x_out.raw(x_rows++ == 0 ? "\n" : ",\n");
  x_out.raw("  {\"kind\": ").raw(row.is_transfer ? "\"transfer\"" : "\"collective\"");
  x_out.raw(", \"group\": ").number(row.group);
  x_out.raw(", \"group_name\": ").text(x_case.text(x_case.groups[row.group].name));
  x_out.raw(", \"ordinal\": ").number_or_null(row.ordinal);
  x_out.raw(", \"iteration\": ").number_or_null(row.iteration);
  if (row.is_transfer) {
    x_out.raw(", \"source\": ").number(x_case.ranks[row.source].global_rank);
    x_out.raw(", \"destination\": ").number(x_case.ranks[row.destination].global_rank);
  }
  x_out.raw(", ");
  add_call(row.call);
  x_out.raw(", \"relation\": ").text(model::name_of(row.relation));
  add_marks(row);
  x_out.raw(", \"tied\": ").boolean(row.tied);
  x_out.raw(", \"attention\": ").text(name_of(row.attention));
  x_out.raw(", \"wrong\": ").boolean(row.attention == model::Attention::kWrong);
  x_out.raw(", \"behind\": ").number_or_null(row.behind).raw(", \"cells\": [");
  for (std::size_t i = 0; i < row.cells.size(); ++i) {
    if (i > 0) x_out.raw(", ");
    add_cell(row.cells[i]);
  }
  x_out.raw("]}");
}

// Each way in which cells of the row differ from its majority, once.
void CollectivesJson::add_marks(const model::AlignedRow& row) {
  using model::CellRelation;
  x_out.raw(", \"marks\": [");
  bool first = true;
  for (const CellRelation relation :
       {CellRelation::kOpMismatch, CellRelation::kDtypeMismatch, CellRelation::kSizeMismatch,
        CellRelation::kStateMismatch, CellRelation::kUndecided}) {
    const bool found = std::any_of(row.cells.begin(), row.cells.end(),
                                   [&](const model::AlignedCell& cell) { return cell.relation == relation; });
    if (!found) continue;
    if (!first) x_out.raw(", ");
    x_out.text(model::name_of(relation));
    first = false;
  }
  x_out.raw("]");
}

void CollectivesJson::add_call(const model::CallRef& call) {
  const model::Operation& op = operation_of(x_case, call);
  const model::Signature& signature = x_case.signature(op);
  x_out.raw("\"operation\": ").text(x_case.text(signature.name));
  x_out.raw(", \"op_kind\": ").text(model::op_kind_name(signature.kind));
  x_out.raw(", \"elements\": ").number_or_null(call_elements(x_case, op));
  x_out.raw(", \"output_elements\": ").number_or_null(call_output_elements(x_case, op));
  x_out.raw(", \"dtype\": ").text_or_null(call_dtype(x_case, op));
}

// What it called is said where that differs from the row.
void CollectivesJson::add_cell(const model::AlignedCell& cell) {
  x_out.raw("{\"ranks\": ");
  add_ranks(cell.ranks);
  x_out.raw(", \"state\": ").text(model::name_of(cell.state));
  x_out.raw(", \"relation\": ").text(model::name_of(cell.relation)).raw(", \"call\": ");
  if (cell.call && cell.own_call) {
    x_out.raw("{");
    add_call(*cell.call);
    x_out.raw("}");
  } else {
    x_out.raw("null");
  }
  x_out.raw(", \"contradicts_itself\": ").boolean(cell.contradicts_itself).raw("}");
}

void CollectivesJson::add_ranks(const std::vector<model::RankIndex>& ranks) {
  x_out.raw("[");
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    if (i > 0) x_out.raw(", ");
    x_out.number(x_case.ranks[ranks[i]].global_rank);
  }
  x_out.raw("]");
}

void CollectivesJson::finish(const RowCounts& total) {
  x_out.raw("\n],\n\"summary\": {\"rows\": ").number(static_cast<std::int64_t>(total.rows));
  x_out.raw(", \"shown\": ").number(static_cast<std::int64_t>(x_rows));
  x_out.raw(", \"wrong\": ").number(static_cast<std::int64_t>(total.wrong));
  x_out.raw(", \"noted\": ").number(static_cast<std::int64_t>(total.noted)).raw("}\n}\n");
  x_out.flush();
}

}  // namespace unhang::report
