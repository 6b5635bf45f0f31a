// SPDX-License-Identifier: Apache-2.0
#include "report/terminal.h"

#include <algorithm>
#include <sstream>

#include <gtest/gtest.h>

#include "report/sample_verdicts_for_tests.h"
#include "report/text_layout.h"

namespace unhang::report {
namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::vector<model::Verdict> all_samples() {
  return {samples::rank_not_entered_1024(),
          samples::tie_of_two(),
          samples::rank_silent(),
          samples::healthy(),
          samples::transport_stall(),
          samples::straggler(),
          samples::inconclusive(),
          samples::crowded(),
          samples::hostile(),
          model::Verdict{}};
}

std::string without_colour(const std::string& text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\x1b') {
      i = text.find('m', i);
    } else {
      out += text[i];
    }
  }
  return out;
}

model::Case case_with_troubles() {
  model::Case evidence;
  evidence.inputs = {
      {"a/dump_1",
       "flight_recorder_pickle",
       {{model::Severity::kDataLoss, "truncated", "the file ends inside an entry", 812, 300}}},
      {"old/dump_9", "flight_recorder_pickle", {}},
      {"notes.txt", "unknown", {{model::Severity::kInfo, "not_recognised", "not evidence", {}, 0}}}};
  evidence.set_aside = {{1, "another job"}};
  evidence.conflicts = {{0, "the name says rank 1, its groups say rank 5"}};
  return evidence;
}

TEST(Terminal, FirstScreenAlwaysFits) {
  const model::Case evidence = case_with_troubles();
  for (const model::Verdict& verdict : all_samples()) {
    for (const int width : {40, 41, 57, 79, 80, 100, 160, 300}) {
      TerminalOptions options;
      options.width = width;
      options.evidence = width % 2 == 0 ? &evidence : nullptr;
      const std::vector<std::string> lines = lines_of(render_terminal(verdict, options));
      EXPECT_LE(lines.size(), kFirstScreenLines) << width << ": " << verdict.headline.substr(0, 60);
      EXPECT_GE(lines.size(), 3u);
      for (const std::string& line : lines) {
        EXPECT_LE(columns(line), width) << line;
        EXPECT_TRUE(line.empty() || line.back() != ' ') << line;
      }
    }
  }
}

TEST(Terminal, TheVerdictTheCulpritAndTheFirstStepNeverGo) {
  TerminalOptions options;
  options.width = 60;
  const std::string text = render_terminal(samples::crowded(), options);
  EXPECT_EQ(text.find("COLLECTIVE DESYNC · stopped · high confidence\n"), 0u);
  EXPECT_NE(text.find("\nwho      ranks 0-595 (every 7th) on 75 hosts and 1 other"), std::string::npos)
      << text;
  EXPECT_NE(text.find("py-spy dump --pid PID\n"), std::string::npos) << text;
  EXPECT_NE(text.find("-v 2 more steps"), std::string::npos) << text;
}

TEST(Terminal, NarrowTerminalsGetTheNarrowestLayout) {
  TerminalOptions narrow;
  narrow.width = 3;
  TerminalOptions least;
  least.width = kNarrowest;
  EXPECT_EQ(render_terminal(samples::tie_of_two(), narrow), render_terminal(samples::tie_of_two(), least));
}

TEST(Terminal, NoByteOfTheEvidenceActsOnTheTerminal) {
  for (const model::Verdict& verdict : all_samples()) {
    for (const int verbosity : {0, 1, 2}) {
      TerminalOptions options;
      options.verbosity = verbosity;
      options.full_stacks = true;
      for (const char c : render_terminal(verdict, options)) {
        ASSERT_TRUE(c == '\n' || (static_cast<unsigned char>(c) >= 0x20 && c != 0x7F)) << static_cast<int>(c);
      }
      const std::string text = render_terminal(verdict, options);
      EXPECT_EQ(text.find("\xe2\x80\xae"), std::string::npos);  // right-to-left override
      EXPECT_EQ(text.find('\xff'), std::string::npos);
      EXPECT_EQ(one_line(text.substr(0, text.find('\n'))), text.substr(0, text.find('\n')));
    }
  }
}

TEST(Terminal, ColourChangesNoWord) {
  for (const model::Verdict& verdict : all_samples()) {
    TerminalOptions options;
    options.verbosity = 1;
    const std::string plain = render_terminal(verdict, options);
    options.color = true;
    const std::string coloured = render_terminal(verdict, options);
    EXPECT_NE(coloured, plain);
    EXPECT_EQ(without_colour(coloured), plain);
  }
}

TEST(Terminal, SuspectsAreNeverShownAsCulprits) {
  TerminalOptions options;
  options.verbosity = 1;
  const std::string text = render_terminal(samples::inconclusive(), options);
  EXPECT_NE(text.find("who      no culprit is proven"), std::string::npos);
  EXPECT_NE(text.find("suspect  rank 4 (node1)"), std::string::npos);
  EXPECT_NE(text.find("suspects (not proven)\n"), std::string::npos);
  EXPECT_EQ(text.find("\nculprits\n"), std::string::npos);
  // With culprits, suspects stay off the first screen.
  model::Verdict both = samples::straggler();
  both.suspects = {samples::rank_subject(77, "node9")};
  const std::string first = render_terminal(both, {});
  EXPECT_EQ(first.find("77"), std::string::npos) << first;
}

TEST(Terminal, DetailsShowWhatTheFirstScreenCuts) {
  const model::Case evidence = case_with_troubles();
  TerminalOptions options;
  options.verbosity = 1;
  options.evidence = &evidence;
  const std::string text = render_terminal(samples::rank_not_entered_1024(), options);
  for (const std::string_view part :
       {"\nfindings\n  desync-1 collective_desync / rank_not_entered (high)\n", "rules out: transport",
        "  culprit 1 rank: 133\n    _next_batch (train/data.py:77)\n", "waiting 1,023 ranks: 0-132,134-1023",
        "  4. Copy the dumps of ranks 7,9,500 and diagnose again\n", "absent 3: 7,9,500\n",
        "seen 1,021: 0-6,8,10-499,501-1023",
        "node16 -48.123 ms, spread 2.400 ms (311 operations completed together)\n",
        "old/dump_9: another job\n", "lost a/dump_1 byte 812: the file ends inside an entry (300 bytes lost)",
        "a/dump_1: the name says rank 1, its groups say rank 5\n",
        "note notes.txt: not evidence [not_recognised]"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\nnot in\n" << text;
  }
  EXPECT_EQ(text.find("main (train/train.py:210)"), std::string::npos);
  options.full_stacks = true;
  EXPECT_NE(
      render_terminal(samples::rank_not_entered_1024(), options).find("    main (train/train.py:210)\n"),
      std::string::npos);
}

TEST(Terminal, ManyItemsAreCountedNotPoured) {
  TerminalOptions options;
  options.verbosity = 1;
  const std::string some = render_terminal(samples::crowded(), options);
  EXPECT_NE(some.find("… 67 more (-vv)"), std::string::npos);  // 86 ranks and a pair, 20 shown
  options.verbosity = 2;
  const std::string all = render_terminal(samples::crowded(), options);
  EXPECT_EQ(all.find("more (-vv)"), std::string::npos);
  EXPECT_NE(all.find("\n  rank 595 (very-long-host-name-74.cluster.example.org): why\n"), std::string::npos);
  EXPECT_NE(all.find("\n  pair 2->3\n"), std::string::npos);
}

TEST(Terminal, WhatAllPathsShareIsSaidOnce) {
  model::Case evidence;
  evidence.inputs = {{"/data/run7/dumps/node1/dump_0", "flight_recorder_pickle", {}},
                     {"/data/run7/dumps/node2/dump_1", "flight_recorder_pickle", {}}};
  evidence.set_aside = {{1, "another job"}};
  model::Verdict verdict = samples::rank_silent();
  verdict.evidence = {{"/data/run7/dumps/node1/dump_0", {}, {}, 5, "waits"}};
  verdict.findings[0].evidence = {0};
  verdict.not_seen = {"set aside: /data/run7/dumps/node2/dump_1 (another job)"};
  TerminalOptions options;
  options.evidence = &evidence;
  options.verbosity = 1;
  const std::string text = render_terminal(verdict, options);
  EXPECT_NE(text.find("\nevidence node1/dump_0 record 5: waits\n"), std::string::npos) << text;
  EXPECT_NE(text.find("\nnot seen 1 file set aside (-v)\n"), std::string::npos) << text;
  EXPECT_NE(text.find("\nfiles\n  named from /data/run7/dumps/\n"), std::string::npos) << text;
  EXPECT_NE(text.find("\n  node2/dump_1: another job\n"), std::string::npos) << text;
}

TEST(Terminal, CommandsInTheDetailsStayOnOneLine) {
  model::Verdict verdict = samples::straggler();
  const std::string command = "nvidia-smi " + std::string(200, 'q');
  verdict.recovery.steps[0].command = command;
  TerminalOptions options;
  options.verbosity = 1;
  const std::string text = render_terminal(verdict, options);
  EXPECT_NE(text.find("     " + command + "\n"), std::string::npos);
}

TEST(Terminal, EvidenceIdsThatPointNowhereAreNoAccident) {
  model::Verdict verdict = samples::rank_silent();
  verdict.findings[0].evidence = {900000, 0};
  verdict.culprits[0].evidence = {77};
  TerminalOptions options;
  options.verbosity = 2;
  EXPECT_NE(render_terminal(verdict, options).find("evidence trace_0 record 5"), std::string::npos);
}

}  // namespace
}  // namespace unhang::report
