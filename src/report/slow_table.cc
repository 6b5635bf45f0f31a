// SPDX-License-Identifier: Apache-2.0
#include "report/slow_table.h"

#include <algorithm>
#include <numeric>

#include "report/text_layout.h"

namespace unhang::report {
namespace {

constexpr int kIndent = 2;
constexpr int kGap = 2;
constexpr int kNarrowestName = 8;

std::string filled(const std::string& text, int width, bool right) {
  const int missing = std::max(width - columns(text), 0);
  const std::string blanks(static_cast<std::size_t>(missing), ' ');
  return right ? blanks + text : text + blanks;
}

}  // namespace

void TextTable::add(std::vector<std::string> cells, Style style) {
  for (std::string& cell : cells) cell = one_line(cell);
  x_rows.push_back(std::move(cells));
  x_styles.push_back(style);
}

// The widest name gives way where the line would be too long.
std::vector<int> TextTable::widths() const {
  std::vector<int> out;
  for (std::size_t c = 0; c < x_columns.size(); ++c) {
    int width = columns(x_columns[c].title);
    for (const auto& row : x_rows) width = std::max(width, std::min(columns(row[c]), x_columns[c].most));
    out.push_back(width);
  }
  const auto used = [&] {
    return kIndent + std::accumulate(out.begin(), out.end(), 0) + kGap * (static_cast<int>(out.size()) - 1);
  };
  while (used() > x_width) {
    std::size_t widest = x_columns.size();
    for (std::size_t c = 0; c < x_columns.size(); ++c) {
      if (!x_columns[c].right && out[c] > kNarrowestName &&
          (widest == x_columns.size() || out[c] > out[widest]))
        widest = c;
    }
    if (widest == x_columns.size()) break;
    --out[widest];
  }
  return out;
}

int TextTable::room_for_plot() const {
  const auto widths_now = widths();
  return x_width - kIndent - std::accumulate(widths_now.begin(), widths_now.end(), 0) -
         kGap * static_cast<int>(widths_now.size());
}

std::vector<Line> TextTable::render(const std::vector<std::string>& plots,
                                    const std::string& plot_title) const {
  const std::vector<int> all = widths();
  const auto line_of = [&](const std::vector<std::string>& cells, const std::string& plot) {
    std::string text(kIndent, ' ');
    for (std::size_t c = 0; c < x_columns.size(); ++c) {
      if (c > 0) text += std::string(kGap, ' ');
      text += filled(cut(cells[c], all[c]), all[c], x_columns[c].right);
    }
    if (!plot.empty()) text += std::string(kGap, ' ') + plot;
    text = cut(text, x_width);
    return text.substr(0, text.find_last_not_of(' ') + 1);
  };
  std::vector<Line> out;
  std::vector<std::string> titles;
  for (const TableColumn& column : x_columns) titles.push_back(column.title);
  const bool fits = room_for_plot() >= columns(plot_title);
  out.push_back({{line_of(titles, plots.empty() || !fits ? "" : plot_title), Style::kLabel}});
  for (std::size_t row = 0; row < x_rows.size(); ++row)
    out.push_back({{line_of(x_rows[row], row < plots.size() ? plots[row] : ""), x_styles[row]}});
  return out;
}

}  // namespace unhang::report
