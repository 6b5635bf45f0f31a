// SPDX-License-Identifier: Apache-2.0
#include "report/markdown.h"

#include <algorithm>
#include <sstream>

#include <gtest/gtest.h>

#include "report/sample_verdicts_for_tests.h"

namespace unhang::report {
namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

TEST(Markdown, TheNoteOfARankThatLeftNoDump) {
  std::string text = render_markdown(samples::rank_silent());
  const std::string version = "unhang " UNHANG_VERSION;
  text.replace(text.find(version), version.size(), "unhang VERSION");
  EXPECT_EQ("\n" + text, R"(
## Process or device unavailable: stopped, low confidence

Ranks 0,1,3 wait in all_reduce #5 of default_pg (0) for rank 2, which left no dump.

| Fact | |
|---|---|
| Cause | `rank_silent`: no sign of life from a rank that the others wait for |
| Culprits | rank 2 |
| Where | all_reduce #5 · group default_pg (0) |
| Impact | 3 of 4 ranks waiting: 0,1,3 |
| Phase | steady |
| Fault domain | unknown |
| Recovery level | process group |
| Seen | flight recorder of 3 of 4 ranks |

**Culprits**

- rank 2: no file of it among the inputs

**Not seen**

- no dump from rank 2: dead, too stuck to write it, or just not copied

**Next steps**

1. Look for the dump of rank 2 on its host: `ls -l ~/.cache/torch/comm_lib_trace_rank_2 /tmp/nccl_trace_rank_2`
2. No file: is the process alive? `py-spy dump --pid PID`
3. *(disruptive)* Rebuild the whole group

**Alternatives**

- `collective_desync / rank_not_entered`; decide by: copy the dump of rank 2 and diagnose again

**Evidence**, below `fr/`

- `trace_0 record 5`: all_reduce #5 scheduled
- `trace_1 record 5`: all_reduce #5 scheduled

unhang VERSION · `unhang explain rank_silent`
)");
}

TEST(Markdown, SuspectsAreNotCulprits) {
  const std::string text = render_markdown(samples::inconclusive());
  EXPECT_NE(text.find("| Culprits | none proven |"), std::string::npos);
  EXPECT_NE(text.find("**Suspects (not proven)**\n\n- rank 4 (node1)"), std::string::npos);
  EXPECT_EQ(text.find("**Culprits**"), std::string::npos);
}

TEST(Markdown, HealthyNeedsNoCulpritsAndNoCause) {
  const std::string text = render_markdown(samples::healthy());
  EXPECT_EQ(text.find("## Healthy: state unknown, medium confidence\n"), 0u);
  EXPECT_EQ(text.find("Culprits"), std::string::npos);
  EXPECT_EQ(text.find("explain"), std::string::npos);
}

TEST(Markdown, StacksAreInOneBlockAndCutToTheUsersFrame) {
  const std::string text = render_markdown(samples::rank_not_entered_1024());
  EXPECT_NE(
      text.find("```text\nculprit, 1 rank: 133\n    _next_batch (train/data.py:77)\nwaiting, 1,023 ranks: "
                "0-132,134-1023\n    gather_from_tensor_model_parallel_region"),
      std::string::npos)
      << text;
  EXPECT_EQ(text.find("distributed_c10d"), std::string::npos);
  MarkdownOptions options;
  options.full_stacks = true;
  EXPECT_NE(
      render_markdown(samples::rank_not_entered_1024(), options).find("    main (train/train.py:210)\n"),
      std::string::npos);
}

TEST(Markdown, NothingInTheEvidenceActs) {
  const std::string text = render_markdown(samples::hostile());
  int fences = 0;
  for (const std::string& line : lines_of(text)) {
    if (line.rfind("```", 0) == 0) ++fences;
    for (const char c : line) ASSERT_GE(static_cast<unsigned char>(c), 0x20) << line;
    if (line.rfind("| ", 0) == 0) {
      // Exactly three bars that are not escaped: the table keeps its two columns.
      int bars = 0;
      for (std::size_t i = 0; i < line.size(); ++i)
        bars += line[i] == '|' && (i == 0 || line[i - 1] != '\\') ? 1 : 0;
      EXPECT_EQ(bars, 3) << line;
    }
    // HTML only in code: inline marks or the block of stacks, whose lines are indented or start with a role.
    const std::size_t tag = line.find("<script");
    if (fences != 1 && tag != std::string::npos && line.find('`') > tag) {
      EXPECT_EQ(line[tag - 1], '\\') << line;
    }
  }
  EXPECT_EQ(fences, 2);
}

TEST(Markdown, LongListsAreCounted) {
  const std::string text = render_markdown(samples::crowded());
  EXPECT_NE(text.find("- … 67 more\n"), std::string::npos);
  EXPECT_LT(lines_of(text).size(), 120u);
}

}  // namespace
}  // namespace unhang::report
