// SPDX-License-Identifier: Apache-2.0
#include "report/collectives.h"

#include <algorithm>
#include <optional>
#include <set>

#include "base/rank_set.h"
#include "report/call_words.h"
#include "report/styled.h"
#include "report/text_layout.h"

namespace unhang::report {
namespace {

using model::AlignedCell;
using model::AlignedRow;
using model::Attention;
using model::CellRelation;
using model::CellState;

constexpr int kGap = 2;
constexpr int kMark = 2;
constexpr int kWidestCall = 48;
constexpr int kNarrowCall = 34;
constexpr int kWordColumn = 7;    // "absent" and a blank
constexpr int kLetterColumn = 3;  // "w!" and a blank

enum class Layout { kWords, kLetters, kClasses };

struct StateSign {
  CellState state;
  std::string_view word, letter, meaning;
  Style style;
};

constexpr StateSign kSigns[] = {
    {CellState::kDone, "done", ".", "finished", Style::kFaint},
    {CellState::kStarted, "run", "r", "running on the device", Style::kWarning},
    {CellState::kEnqueued, "wait", "w", "called, not finished", Style::kWarning},
    {CellState::kNotArrived, "absent", "X", "did not enter", Style::kBad},
    {CellState::kForgotten, "old", "o", "older than what its ring still holds", Style::kFaint},
    {CellState::kUnknown, "?", "?", "its evidence does not say", Style::kPlain},
};

const StateSign& sign_of(CellState state) {
  return *std::find_if(std::begin(kSigns), std::end(kSigns) - 1,
                       [&](const StateSign& sign) { return sign.state == state; });
}

std::string padded(std::string text, int width) {
  const int missing = width - columns(text);
  return missing > 0 ? text + std::string(static_cast<std::size_t>(missing), ' ') : text;
}

std::string right(std::string text, int width) {
  const int missing = width - columns(text);
  return missing > 0 ? std::string(static_cast<std::size_t>(missing), ' ') + text : text;
}

bool differs(const AlignedCell& cell) {
  return cell.relation > CellRelation::kUndecided;
}

class Table {
 public:
  Table(const model::Case& joined, RowShortlist& rows, const TableOptions& options)
      : x_case(joined), x_rows(rows), x_options(options), x_width(std::max(options.width, 40)) {}

  std::string render() {
    const auto kept = x_rows.take();
    for (std::size_t at = 0; at < kept.size();) {
      const std::size_t section = RowShortlist::section_of(kept[at].row);
      std::size_t end = at;
      while (end < kept.size() && RowShortlist::section_of(kept[end].row) == section) ++end;
      add_section(section, {kept.data() + at, end - at});
      at = end;
    }
    add_summary(kept.size());
    return paint(x_lines, x_options.color);
  }

 private:
  using Rows = std::span<const RowShortlist::Kept>;

  void add_section(std::size_t section, Rows rows) {
    const bool transfers = rows.front().row.is_transfer;
    measure(transfers, rows);
    add_title(section, transfers);
    add_header(transfers);
    const RowCounts& total = x_rows.section(section);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (i > 0 && rows[i].index != rows[i - 1].index + 1) add_gap(rows[i].index - rows[i - 1].index - 1);
      add_row(rows[i].row);
    }
    if (total.rows > rows.size()) {
      x_lines.push_back({{"  " + counted(total.rows - rows.size(), "row", "rows") + " of this part not shown",
                          Style::kFaint}});
    }
    x_lines.push_back({});
  }

  // Widths of the columns, and how the cells are laid out.
  void measure(bool transfers, Rows rows) {
    x_columns.clear();
    x_ordinal = 1;
    x_place = 0;
    x_call = 9;
    for (const auto& kept : rows) {
      const AlignedRow& row = kept.row;
      x_ordinal = std::max(x_ordinal, columns(ordinal_text(row)));
      x_place = std::max(x_place, columns(place_text(row)));
      x_call = std::max(x_call, columns(call_text(row)));
    }
    if (x_place > 0) x_place = std::max(x_place, transfers ? 5 : 4);
    const int whole_call = std::min(x_call, kWidestCall);
    if (!transfers) {
      std::set<model::RankIndex> shown;
      for (const auto& kept : rows) {
        for (const AlignedCell& cell : kept.row.cells) shown.insert(cell.ranks.begin(), cell.ranks.end());
      }
      x_columns.assign(shown.begin(), shown.end());
      // Words rather than letters, and then whole names rather than cut ones.
      for (const Layout layout : {Layout::kWords, Layout::kLetters}) {
        for (const int call : {whole_call, std::min(whole_call, kNarrowCall)}) {
          if (fits(layout, call)) return;
        }
      }
    }
    x_layout = Layout::kClasses;
    set_call_width(std::min(whole_call, std::max(20, x_width * 3 / 10)));
  }

  bool fits(Layout layout, int call) {
    const int digits = columns(std::to_string(x_case.ranks[x_columns.back()].global_rank));
    x_layout = layout;
    x_cell = std::max(layout == Layout::kWords ? kWordColumn : kLetterColumn, digits + 1);
    set_call_width(call);
    const auto room = static_cast<std::size_t>(std::max(x_width - x_left, 0));
    if (x_columns.size() > room / static_cast<std::size_t>(x_cell)) return false;
    x_used_letters = x_used_letters || layout == Layout::kLetters;
    return true;
  }

  void set_call_width(int call) {
    x_call = call;
    x_left = kMark + x_ordinal + kGap + (x_place > 0 ? x_place + kGap : 0) + x_call + kGap;
  }

  static std::string ordinal_text(const AlignedRow& row) {
    return row.ordinal ? std::to_string(*row.ordinal) : "-";
  }

  // The step, or the edge of a transfer.
  std::string place_text(const AlignedRow& row) const {
    if (row.is_transfer) {
      return std::to_string(x_case.ranks[row.source].global_rank) + "->" +
             std::to_string(x_case.ranks[row.destination].global_rank);
    }
    return row.iteration ? std::to_string(*row.iteration) : "";
  }

  std::string call_text(const AlignedRow& row) const {
    const auto& op = operation_of(x_case, row.call);
    if (!row.is_transfer) return call_words(x_case, op);
    const auto size = call_elements(x_case, op);
    return (size ? std::to_string(*size) + " x " : "") + call_dtype(x_case, op);
  }

  void add_title(std::size_t section, bool transfers) {
    const RowCounts& total = x_rows.section(section);
    std::string count = counted(total.rows, "row", "rows");
    if (total.wrong > 0) count += ", " + grouped(static_cast<std::int64_t>(total.wrong)) + " wrong";
    if (transfers) {
      x_lines.push_back({{"point to point", Style::kStrong}, {" · " + count}});
      return;
    }
    const auto& group = x_case.groups[section];
    const auto members = x_case.global_ranks(group.members);
    std::string ranks = (members.size() == 1 ? "rank " : "ranks ") + fold_within(members, x_width / 3);
    if (group.membership != model::Membership::kDeclared) ranks += " (inferred)";
    const int taken = columns(ranks) + columns(count) + 6;
    x_lines.push_back(
        {{cut(one_line(x_case.group_label(static_cast<model::GroupIndex>(section))), x_width - taken),
          Style::kStrong},
         {" · " + ranks + " · " + count}});
  }

  void add_header(bool transfers) {
    Line line{{std::string(kMark, ' ') + right("#", x_ordinal) + "  ", Style::kLabel}};
    if (x_place > 0) line.push_back({right(transfers ? "edge" : "step", x_place) + "  ", Style::kLabel});
    line.push_back({padded(transfers ? "size" : "operation", x_call) + "  ", Style::kLabel});
    if (x_layout == Layout::kClasses) {
      line.push_back({transfers ? "sender · receiver" : "ranks", Style::kLabel});
    }
    if (x_layout != Layout::kClasses) {
      for (const model::RankIndex rank : x_columns) {
        line.push_back({padded(std::to_string(x_case.ranks[rank].global_rank), x_cell), Style::kLabel});
      }
    }
    x_lines.push_back(std::move(line));
  }

  void add_gap(std::size_t rows) {
    x_lines.push_back({{std::string(kMark, ' ') + right("…", x_ordinal) + "  " +
                            counted(rows, "row", "rows") + " in between",
                        Style::kFaint}});
  }

  void add_row(const AlignedRow& row) {
    Line line;
    const bool wrong = row.attention == Attention::kWrong;
    std::string mark = wrong ? "!" : row.attention == Attention::kNoted ? "~" : "";
    if (mark.empty() && row.relation == CellRelation::kUndecided) mark = "?";
    if (!mark.empty()) x_marks.insert(mark);
    const Style style = wrong ? Style::kStrong : Style::kPlain;
    line.push_back({padded(mark, kMark), wrong ? Style::kBad : Style::kWarning});
    std::string head = right(ordinal_text(row), x_ordinal) + "  ";
    if (x_place > 0) head += right(place_text(row), x_place) + "  ";
    line.push_back({head + padded(cut(call_text(row), x_call), x_call) + "  ", style});
    for (const AlignedCell& cell : row.cells) {
      x_states.insert(cell.state);
      x_differs = x_differs || differs(cell);
    }
    const std::string behind = row.behind ? "behind #" + std::to_string(*row.behind) : "";
    if (x_layout == Layout::kClasses) {
      add_classes(row, std::move(line), behind);
    } else {
      add_columns(row, line);
      const int used = x_left + x_cell * static_cast<int>(x_columns.size());
      if (used + columns(behind) <= x_width) line.push_back({behind, Style::kFaint});
      x_lines.push_back(std::move(line));
    }
    add_differences(row);
  }

  void add_columns(const AlignedRow& row, Line& line) const {
    for (const model::RankIndex rank : x_columns) {
      const auto cell = std::find_if(row.cells.begin(), row.cells.end(), [&](const AlignedCell& candidate) {
        return std::binary_search(candidate.ranks.begin(), candidate.ranks.end(), rank);
      });
      if (cell == row.cells.end()) {
        line.push_back({padded("", x_cell)});
        continue;
      }
      const StateSign& sign = sign_of(cell->state);
      const std::string text(x_layout == Layout::kWords ? sign.word : sign.letter);
      line.push_back(
          {padded(text + (differs(*cell) ? "!" : ""), x_cell), differs(*cell) ? Style::kBad : sign.style});
    }
  }

  std::string state_text(const AlignedCell& cell) const {
    return std::string(sign_of(cell.state).word) + (differs(cell) ? "!" : "");
  }

  void add_classes(const AlignedRow& row, Line line, const std::string& behind) {
    std::string text;
    const int room = x_width - x_left;
    for (const AlignedCell& cell : row.cells) {
      if (!text.empty()) text += " · ";
      if (row.is_transfer) {
        text += std::to_string(x_case.ranks[cell.ranks.front()].global_rank) + ' ' + state_text(cell);
      } else if (row.cells.size() == 1) {
        text += "all " + state_text(cell);
      } else {
        text += fold_within(x_case.global_ranks(cell.ranks), std::max(room - 8, 24)) + ' ' + state_text(cell);
      }
    }
    if (!behind.empty()) text += " · " + behind;
    // Where little room is left, the classes get lines of their own.
    const bool own_line = room < 26 && columns(text) > room;
    const int indent = own_line ? kMark + x_ordinal + kGap : x_left;
    const Line indented{{std::string(static_cast<std::size_t>(indent), ' ')}};
    if (own_line) x_lines.push_back(line);
    const auto wrapped = wrap(text, x_width - indent);
    for (std::size_t i = 0; i < wrapped.size(); ++i) {
      Line out = i == 0 && !own_line ? line : indented;
      out.push_back({wrapped[i]});
      x_lines.push_back(std::move(out));
    }
  }

  // What those who differ called instead.
  void add_differences(const AlignedRow& row) {
    for (const AlignedCell& cell : row.cells) {
      if (!cell.call || (!cell.own_call && !cell.contradicts_itself)) continue;
      if (cell.relation <= CellRelation::kUndecided) continue;
      const auto& op = operation_of(x_case, *cell.call);
      const auto ranks = x_case.global_ranks(cell.ranks);
      std::string text = (ranks.size() == 1 ? "rank " : "ranks ") + fold_within(ranks, x_width / 3) +
                         (ranks.size() == 1 ? " calls " : " call ") + call_words(x_case, op, true) + ": ";
      text += cell.contradicts_itself ? "its input and output do not fit together" : words_of(cell.relation);
      if (row.tied && !cell.contradicts_itself) text += "; there is no majority";
      const int indent = kMark + x_ordinal + kGap;
      for (const std::string& part : wrap(text, x_width - indent)) {
        x_lines.push_back({{std::string(static_cast<std::size_t>(indent), ' ')}, {part, Style::kBad}});
      }
    }
  }

  static std::string words_of(CellRelation relation) {
    switch (relation) {
      case CellRelation::kOpMismatch:
        return "another operation";
      case CellRelation::kDtypeMismatch:
        return "another data type";
      case CellRelation::kSizeMismatch:
        return "another size";
      default:
        return "another state";
    }
  }

  void add_summary(std::size_t shown) {
    const RowCounts& total = x_rows.total();
    std::string text = counted(total.rows, "row", "rows");
    if (shown < total.rows) text = grouped(static_cast<std::int64_t>(shown)) + " of " + text;
    text +=
        total.wrong == 0 ? ", none wrong" : ", " + grouped(static_cast<std::int64_t>(total.wrong)) + " wrong";
    if (total.noted > 0) text += ", " + grouped(static_cast<std::int64_t>(total.noted)) + " to note";
    add_wrapped({text, total.wrong == 0 ? Style::kGood : Style::kBad});
    if (shown < total.rows) {
      add_wrapped({"Shown: what is wrong or to note, then the newest of each group; --limit 0 shows all.",
                   Style::kFaint});
    }
    if (!x_options.headline.empty()) add_wrapped({"Verdict: " + x_options.headline, Style::kPlain});
    add_legend();
  }

  void add_legend() {
    std::string text;
    const auto add = [&](std::string_view sign, std::string_view meaning) {
      text += std::string(text.empty() ? "" : " · ") + std::string(sign) + ' ' + std::string(meaning);
    };
    if (x_marks.contains("!")) add("!", "wrong");
    if (x_marks.contains("~")) add("~", "to note: follows from another row, or a state not up to date");
    if (x_marks.contains("?")) add("?", "sizes may differ by design: not compared");
    if (x_differs) add("wait! done!", "differs from the majority");
    for (const StateSign& sign : kSigns) {
      if (!x_states.contains(sign.state)) continue;
      const std::string letter(sign.letter);
      add(x_used_letters && letter != sign.word ? std::string(sign.word) + "/" + letter
                                                : std::string(sign.word),
          sign.meaning);
    }
    if (!text.empty()) add_wrapped({text, Style::kFaint});
  }

  void add_wrapped(const Span& span) {
    for (const std::string& part : wrap(span.text, x_width)) x_lines.push_back({{part, span.style}});
  }

  const model::Case& x_case;
  RowShortlist& x_rows;
  const TableOptions& x_options;
  int x_width;
  std::vector<Line> x_lines;
  // Of the section at hand.
  std::vector<model::RankIndex> x_columns;
  int x_ordinal = 1, x_place = 0, x_call = 0, x_left = 0, x_cell = 0;
  Layout x_layout = Layout::kClasses;
  // Seen anywhere, for the legend.
  std::set<std::string> x_marks;
  std::set<CellState> x_states;
  bool x_differs = false;
  bool x_used_letters = false;
};

}  // namespace

std::string render_collectives(const model::Case& joined, RowShortlist& rows, const TableOptions& options) {
  return Table(joined, rows, options).render();
}

}  // namespace unhang::report
