// SPDX-License-Identifier: Apache-2.0
//
// The aligned table as text: a section a group, a line a row, and a column for each rank where they fit the
// width, else classes of equal ranks. Deterministic; readable without colour.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "model/aligned_table.h"

namespace unhang::report {

struct RowCounts {
  std::size_t rows = 0;
  std::size_t wrong = 0;
  std::size_t noted = 0;

  void add(const model::AlignedRow& row);
};

// Takes rows one by one and keeps those worth showing: what is wrong (the first of it in each group), then
// what is noted, then the newest. At most `limit` of them stay in memory; 0: all.
class RowShortlist {
 public:
  explicit RowShortlist(std::size_t limit) : x_limit(limit) {}

  void add(const model::AlignedRow& row);

  struct Kept {
    std::uint64_t priority = 0;  // small is kept
    std::size_t index = 0;       // among all rows
    model::AlignedRow row;
  };
  // In the order of the table.
  std::vector<Kept> take();
  const RowCounts& total() const { return x_total; }
  // Rows of a section: a group, or all transfers.
  static std::size_t section_of(const model::AlignedRow& row) {
    return row.is_transfer ? SIZE_MAX : row.group;
  }
  const RowCounts& section(std::size_t id) const { return x_sections.at(id); }

 private:
  std::size_t x_limit;
  RowCounts x_total;
  std::map<std::size_t, RowCounts> x_sections;
  std::vector<Kept> x_heap;  // the least wanted on top
};

struct TableOptions {
  int width = 80;
  bool color = false;
  std::string headline = {};  // of the verdict on all evidence; shown below the table
};

std::string render_collectives(const model::Case& joined, RowShortlist& rows, const TableOptions& options);

}  // namespace unhang::report
