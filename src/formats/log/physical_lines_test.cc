// SPDX-License-Identifier: Apache-2.0
#include "formats/log/physical_lines.h"

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "formats/log/line_blocks.h"

namespace unhang::formats::log {
namespace {

using Lines = std::vector<std::pair<std::string, std::uint64_t>>;

struct Read {
  Lines lines;
  std::uint64_t newlines = 0, cut = 0;
  bool began = false;
};

// Fed in pieces of `size` bytes; `flush` after each, as who follows a file does.
Read read(std::string_view text, std::size_t size, bool flush) {
  Read out;
  LineBlocks blocks([&out](std::string& block) {
    std::vector<PhysicalLine> lines;
    const PhysicalCounts counts = split_lines(block, lines);
    for (const PhysicalLine& line : lines)
      out.lines.emplace_back(block.substr(line.begin, line.length), out.newlines + line.number + 1);
    out.newlines += counts.newlines;
    out.cut += counts.cut_lines;
    out.began = counts.began;
  });
  for (std::size_t at = 0; at < text.size(); at += size) {
    blocks.feed(text.substr(at, size));
    if (flush) blocks.flush();
  }
  blocks.finish();
  return out;
}

TEST(PhysicalLines, AllEndsWhateverTheBlocks) {
  const std::string text = "one\ntwo\r\n\nbar 1\rbar 2\rrecord\nlast";
  const Lines expected{{"one", 1},   {"two", 2},    {"", 3},    {"bar 1", 4},
                       {"bar 2", 4}, {"record", 4}, {"last", 5}};
  for (std::size_t size = 1; size <= text.size(); ++size) {
    for (const bool flush : {false, true}) {
      const Read got = read(text, size, flush);
      EXPECT_EQ(got.lines, expected) << size;
      EXPECT_EQ(got.newlines, 4u);
      EXPECT_TRUE(got.began);
    }
  }
}

TEST(PhysicalLines, EmptyLinesOfWindows) {
  for (const std::size_t size : {1u, 2u, 64u}) {
    EXPECT_EQ(read("a\r\n\r\nb\r\n", size, true).lines, (Lines{{"a", 1}, {"", 2}, {"b", 3}})) << size;
  }
}

TEST(PhysicalLines, ColoursTitlesMarksAndNuls) {
  const std::string text =
      "\xef\xbb\xbf\x1b[1;31mred\x1b[0m \x1b]0;title\athere\n" + std::string("\0\0x\0y\n", 6);
  for (const std::size_t size : {1u, 3u, 100u}) {
    EXPECT_EQ(read(text, size, false).lines, (Lines{{"red there", 1}, {"xy", 2}})) << size;
  }
}

TEST(PhysicalLines, LongLinesAreCutAndCounted) {
  for (const std::size_t length : {kLongestLine + 10, LineBlocks::kBlock, 5 * LineBlocks::kBlock + 3}) {
    const std::string text = std::string(length, 'x') + "\nshort\n";
    for (const std::size_t size : {std::size_t{1000}, std::size_t{1} << 20}) {
      const Read got = read(text, size, false);
      ASSERT_EQ(got.lines.size(), 2u);
      EXPECT_EQ(got.lines[0].first.size(), kLongestLine);
      EXPECT_EQ(got.lines[1], std::pair(std::string("short"), std::uint64_t{2}));
      EXPECT_EQ(got.cut, 1u);
    }
  }
}

TEST(PhysicalLines, ABarThatNeverEndsItsLineIsReadAsItComes) {
  std::string text;
  while (text.size() < 3 * LineBlocks::kBlock) text += "50%|#####     | 3/6\r";
  const std::size_t bars = text.size() / 20;
  for (const std::size_t size : {std::size_t{77}, std::size_t{1} << 20}) {
    const Read got = read(text + "\nend", size, false);
    ASSERT_EQ(got.lines.size(), bars + 1);
    EXPECT_EQ(got.lines[bars - 1].second, 1u);
    EXPECT_EQ(got.lines[bars], std::pair(std::string("end"), std::uint64_t{2}));
    EXPECT_EQ(got.cut, 0u);
  }
}

}  // namespace
}  // namespace unhang::formats::log
