// SPDX-License-Identifier: Apache-2.0
#include "formats/log/keyword_filter.h"

#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace unhang::formats::log {
namespace {

TEST(KeywordFilter, FindsAtBothEndsAndInside) {
  KeywordFilter filter;
  filter.add("NCCL", 0);
  filter.add("Watchdog caught", 3);
  filter.add("NCCL WARN", 5);
  filter.prepare();
  EXPECT_EQ(filter.owners("NCCL"), 1u);
  EXPECT_EQ(filter.owners("xxNCCL"), 1u);
  EXPECT_EQ(filter.owners("NCCx NCL"), 0u);
  EXPECT_EQ(filter.owners("a NCCL WARN b"), 1u | 1u << 5);
  EXPECT_EQ(filter.owners("Watchdog caugh"), 0u);
  EXPECT_EQ(filter.owners("Watchdog caught NCC"), 1u << 3);
  EXPECT_EQ(filter.owners(""), 0u);
  EXPECT_EQ(filter.owners("NCC"), 0u);
}

TEST(KeywordFilter, OneTextOfTwoOwners) {
  KeywordFilter filter;
  filter.add("text", 1);
  filter.add("text", 2);
  filter.prepare();
  EXPECT_EQ(filter.owners("some text"), 6u);
}

TEST(KeywordFilter, RefusesShortTexts) {
  KeywordFilter filter;
  EXPECT_THROW(filter.add("abc", 0), std::invalid_argument);
  EXPECT_THROW(filter.add("abcd", 64), std::invalid_argument);
}

// Against a search one by one, over a small alphabet so that texts overlap and share windows.
TEST(KeywordFilter, AgreesWithPlainSearch) {
  std::mt19937 random(7);
  const auto word = [&random](std::size_t least, std::size_t most) {
    std::string text(least + random() % (most - least + 1), 'a');
    for (char& c : text) c = static_cast<char>('a' + random() % 3);
    return text;
  };
  std::size_t hits = 0;
  for (int round = 0; round < 50; ++round) {
    KeywordFilter filter;
    std::vector<std::pair<std::string, unsigned>> texts;
    for (int i = 0; i < 40; ++i) texts.emplace_back(word(4, 9), static_cast<unsigned>(random() % 32));
    for (const auto& [text, owner] : texts) filter.add(text, owner);
    filter.prepare();
    for (int line = 0; line < 40; ++line) {
      const std::string text = word(0, 40);
      std::uint32_t expected = 0;
      for (const auto& [keyword, owner] : texts) {
        if (text.find(keyword) != std::string::npos) expected |= 1u << owner;
      }
      EXPECT_EQ(filter.owners(text), expected) << text;
      hits += expected != 0 ? 1 : 0;
    }
  }
  EXPECT_GT(hits, 500u);
}

}  // namespace
}  // namespace unhang::formats::log
