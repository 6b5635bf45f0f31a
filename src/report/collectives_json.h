// SPDX-License-Identifier: Apache-2.0
//
// The aligned table as JSON, schema unhang.collectives/1: one row a line, written as rows come, so that a
// table of any length needs no memory. Keys are stable: within /1 they are only added.
#pragma once

#include "model/aligned_table.h"
#include "report/collectives.h"
#include "report/json_stream.h"

namespace unhang::report {

class CollectivesJson {
 public:
  CollectivesJson(const model::Case& joined, ByteSink sink);  // writes what stands before the rows

  void add(const model::AlignedRow& row);
  // Closes the object; `total` counts all rows that passed the filter, also those that were not added.
  void finish(const RowCounts& total);

 private:
  void add_marks(const model::AlignedRow& row);
  void add_call(const model::CallRef& call);
  void add_cell(const model::AlignedCell& cell);
  void add_ranks(const std::vector<model::RankIndex>& ranks);

  const model::Case& x_case;
  JsonStream x_out;
  std::size_t x_rows = 0;
};

}  // namespace unhang::report
