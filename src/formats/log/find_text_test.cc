// SPDX-License-Identifier: Apache-2.0
#include "formats/log/find_text.h"

#include <random>
#include <string>

#include <gtest/gtest.h>

namespace unhang::formats::log {
namespace {

TEST(FindText, FindsWhatFindFinds) {
  std::mt19937 random(7);
  for (int round = 0; round < 20000; ++round) {
    std::string text(random() % 70, ' '), words(random() % 6, ' ');
    for (char& c : text) c = static_cast<char>('a' + random() % 3);
    for (char& c : words) c = static_cast<char>('a' + random() % 3);
    ASSERT_EQ(find_text(text, words), text.find(words)) << text << " / " << words;
  }
}

// Of a text of any length, at each place, the last one included.
TEST(FindText, FindsAtEachPlace) {
  const std::string words = "NCCL ";
  for (std::size_t length = words.size(); length < 80; ++length) {
    for (std::size_t at = 0; at + words.size() <= length; ++at) {
      std::string text(length, 'N');
      text.replace(at, words.size(), words);
      ASSERT_EQ(find_text(text, words), at) << length;
    }
  }
}

}  // namespace
}  // namespace unhang::formats::log
