// SPDX-License-Identifier: Apache-2.0
#include "base/rank_set.h"

#include <algorithm>

#include <gtest/gtest.h>
#include <rapidcheck.h>

namespace unhang::base {
namespace {

using Ranks = std::vector<std::int32_t>;
constexpr std::int32_t kMost = 2147483647;

TEST(FoldRanks, Runs) {
  EXPECT_EQ(fold_ranks({}), "");
  EXPECT_EQ(fold_ranks(Ranks{5}), "5");
  EXPECT_EQ(fold_ranks(Ranks{0, 1}), "0,1");
  EXPECT_EQ(fold_ranks(Ranks{0, 1, 2}), "0-2");
  EXPECT_EQ(fold_ranks(Ranks{7, 3, 1, 0, 2, 3, 0}), "0-3,7");
  EXPECT_EQ(fold_ranks(Ranks{0, 2, 4}), "0,2,4");
  EXPECT_EQ(fold_ranks(Ranks{0, kMost}), "0,2147483647");
}

TEST(FoldRanks, StridesFromFourMembers) {
  EXPECT_EQ(fold_ranks(Ranks{0, 8, 16, 24}), "0-24 (every 8th)");
  EXPECT_EQ(fold_ranks(Ranks{0, 8, 16}), "0,8,16");
  EXPECT_EQ(fold_ranks(Ranks{1, 3, 5, 7, 9, 20}), "1-9 (every 2nd),20");
}

TEST(ParseRanks, ListsRunsAndStrides) {
  EXPECT_EQ(parse_ranks("0-3,7"), (Ranks{0, 1, 2, 3, 7}));
  EXPECT_EQ(parse_ranks("0-24:8"), (Ranks{0, 8, 16, 24}));
  EXPECT_EQ(parse_ranks("0-24 (every 8th)"), (Ranks{0, 8, 16, 24}));
  EXPECT_EQ(parse_ranks("0-63 (every 21st),64"), (Ranks{0, 21, 42, 63, 64}));
  EXPECT_EQ(parse_ranks("2147483646-2147483647"), (Ranks{kMost - 1, kMost}));
  EXPECT_EQ(parse_ranks(""), Ranks{});
}

TEST(ParseRanks, WhatIsNoList) {
  for (const char* text : {",",
                           "1,",
                           ",1",
                           "1,,2",
                           "a",
                           "1-",
                           "-1",
                           "3-1",
                           "0-8:0",
                           "0-8:",
                           "0-8:-1",
                           " 1",
                           "1 ",
                           "1.5",
                           "2147483648",
                           "99999999999999999999",
                           "0-2147483648",
                           "1-2-3",
                           "0-8 (every 0th)",
                           "0-8 (every 2th)",
                           "0-8 (every 2nd",
                           "0-8 (every )",
                           "0-8 (every 2nd) 9"}) {
    EXPECT_EQ(parse_ranks(text), std::nullopt) << text;
  }
}

TEST(ParseRanks, NamesNoMoreThanTheLimit) {
  EXPECT_EQ(parse_ranks("0-3", 4), (Ranks{0, 1, 2, 3}));
  EXPECT_EQ(parse_ranks("0-4", 4), std::nullopt);
  EXPECT_EQ(parse_ranks("0-1,5-7", 4), std::nullopt);
  EXPECT_EQ(parse_ranks("0-6:2", 4), (Ranks{0, 2, 4, 6}));
  EXPECT_EQ(parse_ranks("0", 0), std::nullopt);
  EXPECT_EQ(parse_ranks("0-2147483647"), std::nullopt);
  EXPECT_EQ(parse_ranks("0-2147483647:2147483647"), (Ranks{0, kMost}));
}

TEST(FoldRanks, WhatIsFoldedIsReadAgain) {
  EXPECT_TRUE(rc::check("round trip", [] {
    Ranks ranks = *rc::gen::container<Ranks>(rc::gen::inRange<std::int32_t>(0, 60));
    const auto read = parse_ranks(fold_ranks(ranks));
    std::sort(ranks.begin(), ranks.end());
    ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
    RC_ASSERT(read == ranks);
  }));
}

TEST(ParseRanks, AnyTextIsAnswered) {
  EXPECT_TRUE(rc::check("any text", [] {
    const auto text = *rc::gen::container<std::string>(rc::gen::elementOf(std::string("0123456789,-:, x")));
    const auto read = parse_ranks(text, 1000);
    RC_ASSERT(!read || read->size() <= 1000);
  }));
}

}  // namespace
}  // namespace unhang::base
