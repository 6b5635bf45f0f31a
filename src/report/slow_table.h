// SPDX-License-Identifier: Apache-2.0
//
// A table of text for the terminal whose last column is a plot that takes what is left of the width.
#pragma once

#include <string>
#include <vector>

#include "report/styled.h"

namespace unhang::report {

struct TableColumn {
  std::string title;
  bool right = false;  // numbers
  int most = 40;       // columns; what is longer is cut
};

class TextTable {
 public:
  TextTable(std::vector<TableColumn> columns, int width) : x_columns(std::move(columns)), x_width(width) {}

  // One cell for each column; `style` of the whole row.
  void add(std::vector<std::string> cells, Style style = Style::kPlain);
  // Columns that are left for the plot, once all rows are added.
  int room_for_plot() const;
  // `plots`: by row, drawn behind its cells; empty: none. `plot_title` is not shown without any.
  std::vector<Line> render(const std::vector<std::string>& plots, const std::string& plot_title) const;
  std::size_t rows() const { return x_rows.size(); }

 private:
  std::vector<int> widths() const;

  std::vector<TableColumn> x_columns;
  int x_width;
  std::vector<std::vector<std::string>> x_rows;
  std::vector<Style> x_styles;
};

}  // namespace unhang::report
