// SPDX-License-Identifier: Apache-2.0
//
// The slow report on a screen: plots, widths, what hostile names do.
#include "report/slow_screen.h"

#include <limits>

#include <gtest/gtest.h>

#include "report/plots.h"
#include "report/text_layout.h"

namespace unhang::report {
namespace {

model::Case case_of(int ranks, const std::string& host) {
  model::Case joined;
  for (int i = 0; i < ranks; ++i) {
    model::Rank& rank = joined.ranks.emplace_back();
    rank.global_rank = i;
    rank.host = host;
    rank.operations.emplace_back();
  }
  model::Group& group = joined.groups.emplace_back();
  group.name = joined.vocabulary.symbols.intern("0");
  group.description = joined.vocabulary.symbols.intern("default_pg");
  for (int i = 0; i < ranks; ++i) group.members.push_back(static_cast<model::RankIndex>(i));
  return joined;
}

model::SlowReport full_report(int ranks) {
  model::SlowReport report;
  report.outcome = model::SlowOutcome::kSlow;
  report.findings.push_back({.kind = model::SlowKind::kStraggler,
                             .side = model::SlowSide::kCompute,
                             .cause = "straggler_rank",
                             .confidence = model::Confidence::kHigh,
                             .text = "rank 1 came late",
                             .why = {"late again and again"},
                             .culprits = {1},
                             .suspects = {},
                             .group = 0,
                             .since_sequence = 7,
                             .at = model::SlowFinding::At{1, 0}});
  for (int i = 0; i < ranks; ++i)
    report.ranks.push_back({.rank = static_cast<model::RankIndex>(i),
                            .rows = 100,
                            .last = 50,
                            .median_lag_ns = 5'100'000,
                            .share_lost = 1.0 / (1 + i),
                            .by_durations = true});
  model::SlowSeries series{.count = 100,
                           .median_ns = 2'100'000,
                           .p99_ns = 4'000'000,
                           .longest_ns = 9'000'000,
                           .blocks = {2, 2, 2, 4, 4, 4},
                           .change = model::SlowSeries::Change{50, 151, 1.62, true}};
  report.transfers.push_back({.group = 0,
                              .kind = model::OpKind::kAllReduce,
                              .operation = "all_reduce",
                              .bytes = 8 << 20,
                              .time = series,
                              .share_lost = 0.1});
  report.steps.push_back({0, 3, series});
  for (model::RankIndex source = 0; source < static_cast<model::RankIndex>(ranks); ++source) {
    for (model::RankIndex destination = 0; destination < static_cast<model::RankIndex>(ranks);
         ++destination) {
      if (source != destination)
        report.pairs.push_back({source, destination, 10, 400'000, source == 1 ? 2.0 : 1.0,
                                source == 1 ? 9.0 : 0.0, false, source == 1});
    }
  }
  report.engines.push_back(
      {"http://h:8000", 30, 512.5, {500, 512.5, std::numeric_limits<double>::quiet_NaN()}, 0.5});
  report.time_limit =
      model::TimeLimit{0, 600'000'000'000, 1'200'000'000'000, 400, 400'000'000'000, 400'000'000'000};
  report.not_judged = {
      "single pairs of ranks: sends and receives have no times of their own (batches never have)"};
  return report;
}

void expect_width(const std::string& text, int width) {
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    const std::string line = text.substr(begin, end - begin);
    EXPECT_LE(columns(line), width) << line;
    begin = end + 1;
  }
}

TEST(SlowScreen, ShowsEverythingAtAnyWidth) {
  const model::Case joined = case_of(6, "node1");
  const model::SlowReport report = full_report(6);
  for (const int width : {40, 80, 160}) {
    const std::string text = render_slow(joined, report, {.width = width});
    expect_width(text, width);
    for (const char* wanted : {"SLOW", "! Rank 1 came late", "Who comes last", "Transfers", "Steps", "Pairs",
                               "Engines", "Not judged"})
      EXPECT_NE(text.find(wanted), std::string::npos) << wanted << '\n' << text;
  }
  const std::string wide = render_slow(joined, report, {.width = 160});
  EXPECT_NE(wide.find("x1.6 since #151"), std::string::npos) << wide;
  EXPECT_NE(wide.find("2!"), std::string::npos) << wide;
  EXPECT_NE(wide.find("20 min"), std::string::npos) << wide;
  EXPECT_NE(wide.find("▅▅▅███"), std::string::npos) << wide;
}

TEST(SlowScreen, AsciiOnlyWhereAsked) {
  const std::string text = render_slow(case_of(3, "node1"), full_report(3), {.width = 120, .unicode = false});
  EXPECT_NE(text.find("===###"), std::string::npos) << text;
  for (const char c : text) EXPECT_LT(static_cast<unsigned char>(c), 0x80);
}

TEST(SlowScreen, ManyRanksMakeAListOfPairs) {
  const std::string text = render_slow(case_of(40, "n"), full_report(40), {.width = 80, .top = 5});
  EXPECT_NE(text.find("the slowest against the usual time first (5 of 1560"), std::string::npos) << text;
  EXPECT_NE(text.find("Who comes last (5 of 40, --top 0: all)"), std::string::npos) << text;
  expect_width(text, 80);
}

TEST(SlowScreen, NamesDoNotActOnTheTerminal) {
  const std::string text = render_slow(case_of(2, "no\x1b[31mde\n9"), full_report(2), {.width = 100});
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  expect_width(text, 100);
}

TEST(SlowScreen, SaysWhyNothingFollows) {
  model::SlowReport report;
  const model::Case joined = case_of(2, "");
  EXPECT_NE(render_slow(joined, report, {}).find("CANNOT TELL"), std::string::npos);
  report.outcome = model::SlowOutcome::kStopped;
  EXPECT_NE(render_slow(joined, report, {}).find("unhang diagnose says why"), std::string::npos);
  report.outcome = model::SlowOutcome::kNothingSlow;
  EXPECT_NE(render_slow(joined, report, {}).find("NOTHING SLOW"), std::string::npos);
}

TEST(SlowJson, NumbersThatAreNoneAreNull) {
  std::string text;
  slow_json(case_of(2, ""), full_report(2), 1, [&](std::string_view bytes) { text += bytes; });
  EXPECT_NE(text.find("\"blocks\": [500, 512.5, null]"), std::string::npos) << text;
  EXPECT_NE(text.find("\"host\": null"), std::string::npos) << text;
  EXPECT_EQ(text.find("nan"), std::string::npos) << text;
}

TEST(Plots, BarsAndLines) {
  EXPECT_EQ(bar(0, 10, false), "");
  EXPECT_EQ(bar(0.001, 10, false), "#");
  EXPECT_EQ(bar(0.5, 10, false), "#####");
  EXPECT_EQ(bar(7, 4, true), "████");
  EXPECT_EQ(bar(std::numeric_limits<double>::quiet_NaN(), 4, true), "");
  const std::vector<double> values{0, 1, 2, 3, 4, 5, 6, 7};
  EXPECT_EQ(sparkline(values, 8, true), "▁▂▃▄▅▆▇█");
  EXPECT_EQ(sparkline(values, 4, false).size(), 4u);
  EXPECT_EQ(sparkline(std::vector<double>{3, 3}, 8, false, false), "__");
  EXPECT_EQ(sparkline({}, 8, true), "");
}

}  // namespace
}  // namespace unhang::report
