// SPDX-License-Identifier: Apache-2.0
#include "simulate/layout.h"

#include <set>

#include <gtest/gtest.h>

namespace unhang::simulate {
namespace {

using Ranks = std::vector<std::int32_t>;

TEST(Layout, PutsTensorNeighboursFirstThenDataThenStages) {
  const Layout layout = Layout::make(16, 2, 2).value();
  EXPECT_EQ(layout.data(), 4);
  EXPECT_EQ(layout.members(5, Slot::kTensor), (Ranks{4, 5}));
  EXPECT_EQ(layout.members(5, Slot::kData), (Ranks{1, 3, 5, 7}));
  EXPECT_EQ(layout.members(5, Slot::kPipeline), (Ranks{5, 13}));
  EXPECT_EQ(layout.stage(13), 1);
  EXPECT_EQ(layout.next_stage(5), 13);
  EXPECT_EQ(layout.rank_in_group(13, Slot::kData), 2);
}

TEST(Layout, NumbersGroupsOverTheJobAndMakesNoneOfOneMember) {
  const Layout whole = Layout::make(16, 2, 2).value();
  EXPECT_EQ(whole.group_count(), 1 + 8 + 8 + 4);
  EXPECT_EQ(whole.group_of(15, Slot::kTensor), 8);
  EXPECT_EQ(whole.group_of(0, Slot::kPipeline), 9);
  EXPECT_EQ(whole.group_of(15, Slot::kData), 20);
  const Layout flat = Layout::make(4, 1, 1).value();
  EXPECT_EQ(flat.group_count(), 2);
  EXPECT_FALSE(flat.has(Slot::kTensor));
  EXPECT_FALSE(flat.has(Slot::kPipeline));
  EXPECT_EQ(flat.members(2, Slot::kData), (Ranks{0, 1, 2, 3}));
}

TEST(Layout, MembersOfAGroupAgreeOnItsNumberAndTheirPlaces) {
  for (const auto& [ranks, tensor, pipeline] :
       {std::array{24, 2, 3}, std::array{8, 8, 1}, std::array{8, 1, 8}, std::array{12, 3, 2}}) {
    const Layout layout = Layout::make(ranks, tensor, pipeline).value();
    std::set<std::int32_t> groups;
    for (std::int32_t rank = 0; rank < ranks; ++rank) {
      for (const Slot slot : kSlots) {
        if (!layout.has(slot)) continue;
        groups.insert(layout.group_of(rank, slot));
        const Ranks members = layout.members(rank, slot);
        EXPECT_EQ(members[static_cast<std::size_t>(layout.rank_in_group(rank, slot))], rank);
        for (const std::int32_t member : members) {
          EXPECT_EQ(layout.group_of(member, slot), layout.group_of(rank, slot));
        }
      }
    }
    EXPECT_EQ(groups.size(), static_cast<std::size_t>(layout.group_count()));
    EXPECT_EQ(*groups.rbegin(), layout.group_count() - 1);
  }
}

TEST(Layout, RefusesSizesThatDoNotDivide) {
  for (const auto& [ranks, tensor, pipeline] :
       {std::array{8, 3, 1}, std::array{8, 4, 4}, std::array{1, 1, 1}, std::array{8, 0, 1},
        std::array{8, 1, -2}, std::array{8, 16, 1}}) {
    const auto layout = Layout::make(ranks, tensor, pipeline);
    ASSERT_FALSE(layout.has_value()) << ranks << ' ' << tensor << ' ' << pipeline;
    EXPECT_EQ(layout.error().code, base::ErrorCode::kUsage);
  }
  EXPECT_EQ(Layout::make(8, 3, 1).error().message,
            "8 ranks cannot be split into tp 3 x pp 1: 8 is not a multiple of 3");
}

}  // namespace
}  // namespace unhang::simulate
