// SPDX-License-Identifier: Apache-2.0
#include "report/explain.h"

#include <cstdlib>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "report/text_layout.h"

namespace unhang::report {
namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

TEST(Explain, OneCause) {
  EXPECT_EQ("\n" + render_cause(*model::find_cause("stale_watchdog"), 80, false), R"(
stale_watchdog
a rank's recorded state is a little older than its work (harmless)

What it is
  Completion is written by a watchdog thread that looks now and then. A dump
  taken in between shows the last operation or two as unfinished, although the
  peers prove that they are done.

How it shows
  One rank is behind by one or two operations which need that rank, and which
  its peers have completed. Three or more in one group is no longer this: see
  gpu_not_progressing.

How to be sure
  Take a second dump some seconds later: the state has moved on.

What to do
  Nothing to repair.

category      healthy
fault domain  process
recovery      none
)");
}

TEST(Explain, EveryCauseFitsAndKeepsItsCommandsWhole) {
  for (const model::CauseInfo& cause : model::cause_catalogue()) {
    for (const int width : {60, 80, 120}) {
      const std::string text = render_cause(cause, width, false);
      for (const std::string& line : lines_of(text)) EXPECT_LE(columns(line), width) << line;
      for (const std::string_view field : {cause.confirm, cause.fix}) {
        for (std::size_t from = field.find('`'); from != std::string_view::npos;) {
          const std::size_t to = field.find('`', from + 1);
          const std::string_view command = field.substr(from, to - from + 1);
          if (columns(command) + 4 <= width) {
            EXPECT_NE(text.find(command), std::string::npos) << command;
          }
          from = field.find('`', to + 1);
        }
      }
    }
  }
}

TEST(Explain, ColourAddsNoWord) {
  const model::CauseInfo& cause = *model::find_cause("rank_not_entered");
  std::string plain;
  const std::string coloured = render_cause(cause, 80, true);
  for (std::size_t i = 0; i < coloured.size(); ++i) {
    if (coloured[i] == '\x1b') {
      i = coloured.find('m', i);
    } else {
      plain += coloured[i];
    }
  }
  EXPECT_NE(coloured, plain);
  EXPECT_EQ(plain, render_cause(cause, 80, false));
}

TEST(Explain, TheListHasEveryCodeOnce) {
  const std::string list = render_cause_list(80);
  for (const std::string& line : lines_of(list)) EXPECT_LE(columns(line), 80) << line;
  for (const model::CauseInfo& cause : model::cause_catalogue()) {
    const std::string entry = "\n  " + std::string(cause.code) + " ";
    const std::size_t at = list.find(entry);
    ASSERT_NE(at, std::string::npos) << cause.code;
    EXPECT_EQ(list.find(entry, at + 1), std::string::npos) << cause.code;
  }
}

TEST(Explain, TheListNamesACauseUnderEachOfItsCategories) {
  const std::string list = render_cause_list(80);
  for (const model::CauseInfo& cause : model::cause_catalogue()) {
    if (cause.categories.size() > 4) continue;  // of any category
    std::size_t times = 0;
    for (const char* after : {" ", ",", "\n"}) {
      const std::string code = std::string(cause.code) + after;
      for (std::size_t at = 0; (at = list.find(code, at)) != std::string::npos; at += code.size())
        times += list[at - 1] == ' ' ? 1 : 0;
    }
    EXPECT_GE(times, cause.categories.size()) << cause.code;
  }
}

TEST(Explain, ThePageInTheDocsIsTheCatalogue) {
  const std::string path = std::string(UNHANG_SOURCE_DIR) + "/docs/causes.md";
  if (std::getenv("UNHANG_UPDATE_GOLDEN") != nullptr)
    std::ofstream(path, std::ios::binary) << render_causes_markdown();
  std::ostringstream page;
  page << std::ifstream(path, std::ios::binary).rdbuf();
  EXPECT_TRUE(page.str() == render_causes_markdown())
      << path << " is older than the catalogue; UNHANG_UPDATE_GOLDEN=1 report_test writes it anew";
  for (const model::CauseInfo& cause : model::cause_catalogue()) {
    EXPECT_NE(page.str().find("\n### " + std::string(cause.code) + "\n"), std::string::npos) << cause.code;
  }
}

TEST(Explain, MistypedCodesFindTheirNeighbours) {
  ASSERT_FALSE(similar_causes("rank_not_enterd").empty());
  EXPECT_EQ(similar_causes("rank_not_enterd").front(), "rank_not_entered");
  ASSERT_FALSE(similar_causes("gpu_xids").empty());
  EXPECT_EQ(similar_causes("gpu_xids").front(), "gpu_xid");
  EXPECT_TRUE(similar_causes("zzzzzzzz").empty());
}

}  // namespace
}  // namespace unhang::report
