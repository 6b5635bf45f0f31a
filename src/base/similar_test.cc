// SPDX-License-Identifier: Apache-2.0
#include "base/similar.h"

#include <string>

#include <gtest/gtest.h>

namespace unhang::base {
namespace {

using Words = std::vector<std::string_view>;

TEST(Similar, DistanceCountsEdits) {
  EXPECT_EQ(edit_distance("", ""), 0u);
  EXPECT_EQ(edit_distance("", "abc"), 3u);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
  EXPECT_EQ(edit_distance("--json", "--jsno"), 1u);
  EXPECT_EQ(edit_distance("abc", "abc"), 0u);
  EXPECT_EQ(edit_distance("ca", "abc"), 3u);
}

TEST(Similar, NearestFirst) {
  const Words words = {"diagnose", "collectives", "timeline", "simulate", "explain"};
  EXPECT_EQ(similar_words("diagnsoe", words), Words{"diagnose"});
  EXPECT_EQ(similar_words("colective", words), Words{"collectives"});
  EXPECT_EQ(similar_words("diag", words), Words{"diagnose"});
  EXPECT_EQ(similar_words("explained", words), Words{"explain"});
  EXPECT_EQ(similar_words("frobnicate", words), Words{});
  EXPECT_EQ(similar_words("", words), Words{});
}

TEST(Similar, TiesKeepTheOrderOfTheListAndTheLimitHolds) {
  const Words words = {"abcd1", "abcd2", "abcd3", "abcd4"};
  EXPECT_EQ(similar_words("abcd", words, 2), (Words{"abcd1", "abcd2"}));
}

TEST(Similar, LongInputIsNotCompared) {
  const std::string long_word(100'000, 'a');
  EXPECT_EQ(similar_words(long_word, Words{long_word}), Words{});
}

}  // namespace
}  // namespace unhang::base
