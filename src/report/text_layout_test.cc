// SPDX-License-Identifier: Apache-2.0
#include "report/text_layout.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <random>

#include <gtest/gtest.h>

namespace unhang::report {
namespace {

using Lines = std::vector<std::string>;

TEST(TextLayout, OneLineIsHarmlessAndStaysTheSame) {
  EXPECT_EQ(one_line("a\tb\nc"), "a b c");
  EXPECT_EQ(one_line("\x1b[31mred"), "\\x1b[31mred");
  EXPECT_EQ(one_line("grün 東京"), "grün 東京");
  EXPECT_EQ(one_line("\xff\xc3"), "\\xff\\xc3");
  EXPECT_EQ(one_line(one_line("\x1b\xff\n")), one_line("\x1b\xff\n"));
}

TEST(TextLayout, ColumnsCountCharactersNotBytes) {
  EXPECT_EQ(columns(""), 0);
  EXPECT_EQ(columns("abc"), 3);
  EXPECT_EQ(columns("grün…"), 5);
  EXPECT_EQ(columns("東京"), 4);
  EXPECT_EQ(columns("e\xcc\x81"), 1);  // e with a combining accent
}

TEST(TextLayout, WrapBreaksAtBlanks) {
  EXPECT_EQ(wrap("", 10), Lines{""});
  EXPECT_EQ(wrap("one two three", 8), (Lines{"one two", "three"}));
  EXPECT_EQ(wrap("  one   two  ", 20), Lines{"one two"});
  EXPECT_EQ(wrap("one two", 7, 3), (Lines{"one", "two"}));
  EXPECT_EQ(wrap("one two three", 7, -2), (Lines{"one two", "three"}));
}

TEST(TextLayout, WrapBreaksLongWordsBehindAMarkOrAnywhere) {
  EXPECT_EQ(wrap("/data/dumps/node3", 10), (Lines{"/data/", "dumps/", "node3"}));
  EXPECT_EQ(wrap("aaaaaaaaaaaa", 5), (Lines{"aaaaa", "aaaaa", "aa"}));
  EXPECT_EQ(wrap("東京東京", 5), (Lines{"東京", "東京"}));
  EXPECT_EQ(wrap("東京 x", 1), (Lines{"東", "京", "x"}));  // wider than the line: one at a time, it ends
  EXPECT_EQ(wrap("aaaaaaaaa b", 4, -2), (Lines{"aaaaaa", "aaa", "b"}));
}

TEST(TextLayout, CutSaysThatSomethingIsLost) {
  EXPECT_EQ(cut("abc", 3), "abc");
  EXPECT_EQ(cut("abcd", 3), "ab…");
  EXPECT_EQ(cut("ab cd", 4), "ab…");
  EXPECT_EQ(cut("abcd", 1), "…");
  EXPECT_EQ(cut("abcd", 0), "");
  EXPECT_EQ(cut_front("/data/run7/node3/dump_5", 16), "…/node3/dump_5");
  EXPECT_EQ(cut_front("abcdef", 4), "…def");
  EXPECT_EQ(cut_front("abc", 4), "abc");
}

TEST(TextLayout, RanksAreFoldedIntoTheRoomThereIs) {
  EXPECT_EQ(fold_within(std::vector<std::int32_t>{0, 1, 2, 3, 7}, 10), "0-3,7");
  EXPECT_EQ(fold_within(std::vector<std::int32_t>{}, 10), "");
  const std::vector<std::int32_t> odd = {1, 2, 5, 6, 9, 11, 14, 18, 23, 31};
  EXPECT_EQ(fold_within(odd, 40), "1,2,5,6,9,11,14,18,23,31");
  EXPECT_EQ(fold_within(odd, 20), "1,2,5,6 … (+6 more)");
  EXPECT_EQ(fold_within(odd, 10), "10 ranks");
  std::vector<std::int32_t> most(1024);
  std::iota(most.begin(), most.end(), 0);
  most.erase(most.begin() + 133);
  EXPECT_EQ(fold_within(most, 20), "0-132,134-1023");
  EXPECT_EQ(fold_within(most, 13), "1,023 ranks");
}

TEST(TextLayout, ItemsAreCountedWhenTheyDoNotFit) {
  const Lines items = {"first", "second", "third"};
  EXPECT_EQ(join_within(items, ", ", 30), "first, second, third");
  EXPECT_EQ(join_within(items, ", ", 19), "first … (+2 more)");
  EXPECT_EQ(join_within(items, ", ", 14), "fir… (+2 more)");
  EXPECT_EQ(join_within({"only one"}, ", ", 5), "only…");
  EXPECT_EQ(join_within({}, ", ", 5), "");
}

TEST(TextLayout, Numbers) {
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(1023), "1,023");
  EXPECT_EQ(grouped(-1234567), "-1,234,567");
  EXPECT_EQ(grouped(-123), "-123");
  EXPECT_EQ(counted(1, "rank", "ranks"), "1 rank");
  EXPECT_EQ(counted(2000, "rank", "ranks"), "2,000 ranks");
}

TEST(TextLayout, MarkdownTextActsNowhere) {
  EXPECT_EQ(markdown_text("TENSOR_MODEL_GROUP (35)"), "TENSOR_MODEL_GROUP (35)");
  EXPECT_EQ(markdown_text("_x_ *y* `z`"), "\\_x\\_ \\*y\\* \\`z\\`");
  EXPECT_EQ(markdown_text("a|b <script> [l](u) &amp;"), "a\\|b \\<script> \\[l](u) \\&amp;");
  EXPECT_EQ(markdown_text("# title"), "\\# title");
  EXPECT_EQ(markdown_text("a\n\n- b"), "a  - b");
}

TEST(TextLayout, MarkdownCodeCannotBeClosedFromInside) {
  EXPECT_EQ(markdown_code("a | b"), "`a | b`");
  EXPECT_EQ(markdown_code("a | b", true), "`a \\| b`");
  EXPECT_EQ(markdown_code("a `b` c"), "`` a `b` c ``");
  EXPECT_EQ(markdown_code("``"), "``` `` ```");
  EXPECT_EQ(markdown_code(""), "");
}

// Random but always the same: bytes that are mostly letters and blanks, some of them control bytes or broken
// UTF-8.
class Noise {
 public:
  int below(int limit) { return static_cast<int>(x_engine() % static_cast<unsigned>(limit)); }
  std::string text() {
    static const std::string kPieces[] = {"a", "b",  " ",    " ",    "/",  "-", ",",
                                          "ü", "東", "\x1b", "\xff", "\n", "`", "|"};
    std::string out;
    for (int left = below(120); left > 0; --left) out += kPieces[below(std::size(kPieces))];
    return out;
  }

 private:
  std::mt19937 x_engine{20261129};
};

std::string without_blanks(const std::string& text) {
  std::string out;
  std::copy_if(text.begin(), text.end(), std::back_inserter(out), [](char c) { return c != ' '; });
  return out;
}

TEST(TextLayout, WrapKeepsTheWidthAndTheLetters) {
  Noise noise;
  for (int round = 0; round < 500; ++round) {
    const std::string text = noise.text();
    const int width = 2 + noise.below(50);
    std::string kept;
    for (const std::string& line : wrap(text, width)) {
      ASSERT_LE(columns(line), width) << line;
      kept += without_blanks(line);
    }
    ASSERT_EQ(kept, without_blanks(one_line(text)));
  }
}

TEST(TextLayout, NothingIsWiderThanAsked) {
  Noise noise;
  for (int round = 0; round < 500; ++round) {
    const int width = 12 + noise.below(50);
    std::vector<std::string> items;
    std::vector<std::int32_t> ranks;
    for (int left = noise.below(20); left > 0; --left) {
      items.push_back(noise.text());
      ranks.push_back(noise.below(5000));
    }
    ASSERT_LE(columns(cut(noise.text(), width)), width);
    ASSERT_LE(columns(cut_front(noise.text(), width)), width);
    ASSERT_LE(columns(join_within(items, ", ", width)), width);
    ASSERT_LE(columns(fold_within(ranks, width)), width);
  }
}

}  // namespace
}  // namespace unhang::report
