// SPDX-License-Identifier: Apache-2.0
#include "report/slow_screen.h"

#include <algorithm>
#include <set>

#include "base/span_text.h"
#include "report/plots.h"
#include "report/slow_table.h"
#include "report/text_layout.h"
#include "report/words.h"

namespace unhang::report {
namespace {

using base::percent_text;
using base::ratio_text;
using base::span_text;
using model::SlowOutcome;
using model::SlowReport;

constexpr int kNarrowestPlot = 6;
constexpr int kWidestPlot = 40;
constexpr int kWidestBar = 24;
constexpr int kNarrowest = 40;
constexpr int kWide = 110;

std::vector<double> reals(const std::vector<std::int64_t>& values) {
  std::vector<double> out;
  out.reserve(values.size());
  for (const std::int64_t value : values) out.push_back(static_cast<double>(value));
  return out;
}

class Screen {
 public:
  Screen(const model::Case& joined, const SlowReport& report, const SlowOptions& options)
      : x_case(joined), x_report(report), x_options(options), x_width(std::max(options.width, kNarrowest)) {}

  std::string render() {
    add_headline();
    add_findings();
    add_ranks();
    add_transfers();
    add_steps();
    add_pairs();
    add_engines();
    add_time_limit();
    add_not_judged();
    return paint(x_lines, x_options.color);
  }

 private:
  void add_wrapped(const std::string& text, Style style, const std::string& first,
                   const std::string& others) {
    const auto parts = wrap(text, x_width - columns(first));
    for (std::size_t i = 0; i < parts.size(); ++i)
      x_lines.push_back({{(i == 0 ? first : others) + parts[i], style}});
  }

  void add_title(const std::string& title, std::size_t shown, std::size_t all) {
    x_lines.push_back({});
    for (const std::string& part : wrap(title, x_width)) x_lines.push_back({{part, Style::kStrong}});
    if (shown == all) return;
    const std::string note = " (" + std::to_string(shown) + " of " + std::to_string(all) + ", --top 0: all)";
    if (columns(title) + columns(note) <= x_width) x_lines.back().push_back({note, Style::kFaint});
  }

  std::size_t shown_of(std::size_t count) const {
    return x_options.top == 0 ? count : std::min(count, x_options.top);
  }

  void add_headline() {
    switch (x_report.outcome) {
      case SlowOutcome::kSlow:
        x_lines.push_back({{"SLOW", Style::kWarning}});
        return;
      case SlowOutcome::kNothingSlow:
        x_lines.push_back({{"NOTHING SLOW", Style::kGood}});
        add_wrapped("No rank comes last more than chance makes it, and nothing that was timed became slower.",
                    Style::kPlain, "", "");
        return;
      case SlowOutcome::kStopped:
        x_lines.push_back({{"STOPPED", Style::kBad}});
        add_wrapped(
            "Operations are open that nothing finishes: unhang diagnose says why. What follows is from "
            "before, and nothing of it is the cause.",
            Style::kPlain, "", "");
        return;
      case SlowOutcome::kUnknown:
        x_lines.push_back({{"CANNOT TELL", Style::kWarning}});
        add_wrapped("Too little was timed to tell slow from fast.", Style::kPlain, "", "");
        return;
    }
  }

  void add_findings() {
    for (const model::SlowFinding& found : x_report.findings) {
      const std::string mark = found.slow ? "! " : "~ ";
      std::string text = capitalised(found.text);
      text += " [" + std::string(found.cause) + ", " + std::string(model::name_of(found.confidence)) +
              " confidence";
      if (found.side != model::SlowSide::kUnknown)
        text += ", " + std::string(model::name_of(found.side)) + " side";
      text += found.slow ? "]" : ", no trouble by itself]";
      add_wrapped(text, found.slow ? Style::kWarning : Style::kPlain, mark, "  ");
      for (const std::string& why : found.why) add_wrapped(why, Style::kFaint, "  - ", "    ");
    }
  }

  std::string host_of(model::RankIndex rank) const {
    return x_case.ranks[rank].host.empty() ? "-" : x_case.ranks[rank].host;
  }

  void add_ranks() {
    const std::size_t shown = shown_of(x_report.ranks.size());
    if (shown == 0) return;
    add_title("Who comes last", shown, x_report.ranks.size());
    TextTable table({{"rank", true},
                     {"host", false, 24},
                     {"group", false, 24},
                     {"last", true},
                     {"lag", true},
                     {"lost", true}},
                    x_width);
    std::vector<double> shares;
    for (std::size_t i = 0; i < shown; ++i) {
      const model::LateRank& late = x_report.ranks[i];
      const bool blamed =
          std::any_of(x_report.findings.begin(), x_report.findings.end(), [&](const auto& found) {
            return found.slow &&
                   std::find(found.culprits.begin(), found.culprits.end(), late.rank) != found.culprits.end();
          });
      table.add(
          {std::to_string(x_case.ranks[late.rank].global_rank), host_of(late.rank),
           x_case.group_label(late.group), std::to_string(late.last) + " of " + std::to_string(late.rows),
           late.last > 0 ? span_text(late.median_lag_ns) : "-", percent_text(late.share_lost)},
          blamed ? Style::kWarning : Style::kPlain);
      shares.push_back(late.share_lost);
    }
    std::vector<std::string> bars;
    const int room = std::min(table.room_for_plot(), kWidestBar);
    const double most = std::max(*std::max_element(shares.begin(), shares.end()), 0.05);
    if (room >= kNarrowestPlot) {
      for (const double share : shares)
        bars.push_back(share < 0.001 ? "" : bar(share / most, room, x_options.unicode));
    }
    append(table.render(bars, ""));
    const bool durations = x_report.ranks.front().by_durations;
    add_wrapped(durations ? "lag: by how much later than the last but one, in the median of those; by "
                            "durations, no clocks. lost: of the time of all."
                          : "lag: by how much later than the last but one, in the median of those; by the "
                            "times of the calls, beyond what a clock explains. lost: of the time of all.",
                Style::kFaint, "  ", "  ");
  }

  bool is_narrow() const { return x_width < kWide; }

  std::string change_text(const model::SlowSeries& series) const {
    if (!series.change) return "-";
    const std::string at = "#" + std::to_string(series.change->sequence);
    const std::string ratio = "x" + ratio_text(series.change->ratio);
    if (is_narrow()) return series.change->persistent ? ratio + ' ' + at : '(' + ratio + ' ' + at + ')';
    return ratio + (series.change->persistent ? " since " : " for a while, ") + at;
  }

  std::vector<std::string> sparklines(const TextTable& table,
                                      const std::vector<std::vector<double>>& blocks) const {
    const int room = std::min(table.room_for_plot(), kWidestPlot);
    std::vector<std::string> out;
    if (room < kNarrowestPlot) return out;
    for (const auto& of_row : blocks) out.push_back(sparkline(of_row, room, x_options.unicode));
    return out;
  }

  // The columns of a series; where it is narrow, the plot goes before the 99th percentile.
  std::vector<TableColumn> series_columns(std::vector<TableColumn> columns) const {
    columns.push_back({"count", true});
    columns.push_back({"median", true});
    if (!is_narrow()) columns.push_back({"p99", true});
    columns.push_back({"change", false, 28});
    return columns;
  }

  std::vector<std::string> series_cells(std::vector<std::string> cells,
                                        const model::SlowSeries& series) const {
    cells.push_back(std::to_string(series.count));
    cells.push_back(span_text(series.median_ns));
    if (!is_narrow()) cells.push_back(span_text(series.p99_ns));
    cells.push_back(change_text(series));
    return cells;
  }

  void add_transfers() {
    const std::size_t shown = shown_of(x_report.transfers.size());
    if (shown == 0) return;
    add_title("Transfers, without the waiting for the last member", shown, x_report.transfers.size());
    const int name = is_narrow() ? 20 : 28;
    TextTable table(series_columns({{"group", false, name}, {"operation", false, name}, {"size", true}}),
                    x_width);
    std::vector<std::vector<double>> blocks;
    for (std::size_t i = 0; i < shown; ++i) {
      const model::SlowTransfers& one = x_report.transfers[i];
      const bool slow = one.time.change && one.time.change->persistent && one.share_lost > 0;
      table.add(series_cells({x_case.group_label(one.group), one.operation,
                              one.bytes ? base::bytes_text(*one.bytes) : "-"},
                             one.time),
                slow ? Style::kWarning : Style::kPlain);
      blocks.push_back(reals(one.time.blocks));
    }
    append(table.render(sparklines(table, blocks), "over time"));
  }

  void add_steps() {
    const std::size_t shown = shown_of(x_report.steps.size());
    if (shown == 0) return;
    add_title("Steps", shown, x_report.steps.size());
    TextTable table(series_columns({{"group", false, 28}, {"calls", true}}), x_width);
    std::vector<std::vector<double>> blocks;
    for (std::size_t i = 0; i < shown; ++i) {
      const model::SlowSteps& one = x_report.steps[i];
      table.add(series_cells({x_case.group_label(one.group), std::to_string(one.length)}, one.time));
      blocks.push_back(reals(one.time.blocks));
    }
    append(table.render(sparklines(table, blocks), "over time"));
  }

  void add_pairs() {
    if (x_report.pairs.empty()) return;
    std::set<model::RankIndex> ranks;
    for (const model::SlowPair& pair : x_report.pairs) {
      ranks.insert(pair.source);
      ranks.insert(pair.destination);
    }
    constexpr int kCell = 6;
    const bool fits = 8 + kCell * static_cast<int>(ranks.size()) <= x_width;
    if (fits) {
      add_title("Pairs: times the usual time, row to column", 1, 1);
      add_matrix(ranks, kCell);
    } else {
      add_pair_list();
    }
  }

  void add_matrix(const std::set<model::RankIndex>& ranks, int cell) {
    const auto right = [](const std::string& text, int width) {
      return std::string(static_cast<std::size_t>(std::max(width - columns(text), 0)), ' ') + text;
    };
    std::string header(8, ' ');
    for (const model::RankIndex rank : ranks)
      header += right(std::to_string(x_case.ranks[rank].global_rank), cell);
    x_lines.push_back({{header, Style::kLabel}});
    auto pair = x_report.pairs.begin();
    for (const model::RankIndex source : ranks) {
      Line line{{right(std::to_string(x_case.ranks[source].global_rank), 8), Style::kLabel}};
      for (const model::RankIndex destination : ranks) {
        const bool here =
            pair != x_report.pairs.end() && pair->source == source && pair->destination == destination;
        const bool hot = here && pair->hot;
        line.push_back({right(here                    ? ratio_text(pair->ratio) + (hot ? "!" : "")
                              : source == destination ? ""
                                                      : ".",
                              cell),
                        hot ? Style::kWarning : Style::kPlain});
        if (here) ++pair;
      }
      x_lines.push_back(std::move(line));
    }
  }

  void add_pair_list() {
    std::vector<model::SlowPair> pairs = x_report.pairs;
    std::stable_sort(pairs.begin(), pairs.end(),
                     [](const auto& a, const auto& b) { return a.ratio > b.ratio; });
    const std::size_t shown = shown_of(pairs.size());
    add_title("Pairs, the slowest against the usual time first", shown, pairs.size());
    TextTable table({{"from", true}, {"to", true}, {"count", true}, {"median", true}, {"times", true}},
                    x_width);
    for (std::size_t i = 0; i < shown; ++i) {
      const model::SlowPair& pair = pairs[i];
      table.add({std::to_string(x_case.ranks[pair.source].global_rank),
                 std::to_string(x_case.ranks[pair.destination].global_rank), std::to_string(pair.count),
                 span_text(pair.median_ns), ratio_text(pair.ratio)});
    }
    append(table.render({}, ""));
  }

  void add_engines() {
    const std::size_t shown = shown_of(x_report.engines.size());
    if (shown == 0) return;
    add_title("Engines", shown, x_report.engines.size());
    TextTable table({{"engine", false, 32}, {"readings", true}, {"tokens/s", true}, {"change", false, 16}},
                    x_width);
    std::vector<std::vector<double>> blocks;
    for (std::size_t i = 0; i < shown; ++i) {
      const model::SlowRate& one = x_report.engines[i];
      table.add({one.engine, std::to_string(one.readings), ratio_text(one.tokens_per_s),
                 one.ratio ? "to " + percent_text(*one.ratio) : "-"});
      blocks.push_back(one.blocks);
    }
    append(table.render(sparklines(table, blocks), "over time"));
  }

  void add_time_limit() {
    if (!x_report.time_limit) return;
    const model::TimeLimit& limit = *x_report.time_limit;
    x_lines.push_back({});
    add_wrapped("The time-out of " + x_case.group_label(limit.group) + " is " + span_text(limit.limit_ns) +
                    ", and of " + std::to_string(limit.count) + " operations 99.9 % took up to " +
                    span_text(limit.p999_ns) + ", the longest " + span_text(limit.longest_ns) +
                    ": at the next start give it " + span_text(limit.advised_ns) +
                    " (three times the one, or twice the other).",
                Style::kWarning, "", "");
  }

  void add_not_judged() {
    if (x_report.not_judged.empty()) return;
    x_lines.push_back({});
    x_lines.push_back({{"Not judged", Style::kStrong}});
    for (const std::string& text : x_report.not_judged) add_wrapped(text, Style::kPlain, "  - ", "    ");
  }

  void append(std::vector<Line> lines) {
    for (Line& line : lines) x_lines.push_back(std::move(line));
  }

  const model::Case& x_case;
  const SlowReport& x_report;
  const SlowOptions& x_options;
  int x_width;
  std::vector<Line> x_lines;
};

}  // namespace

std::string render_slow(const model::Case& joined, const SlowReport& report, const SlowOptions& options) {
  return Screen(joined, report, options).render();
}

}  // namespace unhang::report
