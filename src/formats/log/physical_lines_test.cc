// SPDX-License-Identifier: Apache-2.0
#include "formats/log/physical_lines.h"

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace unhang::formats::log {
namespace {

using Lines = std::vector<std::pair<std::string, std::uint64_t>>;

Lines read(std::string_view text, std::size_t block, std::uint64_t* count = nullptr,
           std::uint64_t* cut = nullptr) {
  Lines lines;
  PhysicalLines reader(
      [&lines](std::string_view line, std::uint64_t number) { lines.emplace_back(line, number); });
  for (std::size_t at = 0; at < text.size(); at += block) reader.feed(text.substr(at, block));
  reader.finish();
  if (count != nullptr) *count = reader.lines();
  if (cut != nullptr) *cut = reader.cut_lines();
  return lines;
}

TEST(PhysicalLines, AllEndsWhateverTheBlocks) {
  const std::string text = "one\ntwo\r\n\nbar 1\rbar 2\rrecord\nlast";
  const Lines expected{{"one", 1},   {"two", 2},    {"", 3},    {"bar 1", 4},
                       {"bar 2", 4}, {"record", 4}, {"last", 5}};
  for (std::size_t block = 1; block <= text.size(); ++block) {
    std::uint64_t count = 0;
    EXPECT_EQ(read(text, block, &count), expected) << block;
    EXPECT_EQ(count, 5u);
  }
}

TEST(PhysicalLines, EmptyLinesOfWindows) {
  EXPECT_EQ(read("a\r\n\r\nb\r\n", 64), (Lines{{"a", 1}, {"", 2}, {"b", 3}}));
}

TEST(PhysicalLines, ColoursTitlesMarksAndNuls) {
  const std::string text =
      "\xef\xbb\xbf\x1b[1;31mred\x1b[0m \x1b]0;title\athere\n" + std::string("\0\0x\0y\n", 6);
  for (const std::size_t block : {1u, 3u, 100u}) {
    EXPECT_EQ(read(text, block), (Lines{{"red there", 1}, {"xy", 2}})) << block;
  }
}

TEST(PhysicalLines, LongLinesAreCutAndCounted) {
  const std::string text = std::string(PhysicalLines::kLongest + 10, 'x') + "\nshort\n";
  for (const std::size_t block : {1000u, 1u << 20}) {
    std::uint64_t cut = 0;
    const Lines lines = read(text, block, nullptr, &cut);
    ASSERT_EQ(lines.size(), 2u);
    EXPECT_EQ(lines[0].first.size(), PhysicalLines::kLongest);
    EXPECT_EQ(lines[1], std::pair(std::string("short"), std::uint64_t{2}));
    EXPECT_EQ(cut, 1u);
  }
}

}  // namespace
}  // namespace unhang::formats::log
