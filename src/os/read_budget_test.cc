// SPDX-License-Identifier: Apache-2.0
#include "os/read_budget.h"

#include <string>

#include <gtest/gtest.h>

namespace unhang::os {
namespace {

using namespace std::string_literals;

constexpr std::uint64_t kMiB = 1 << 20;

TEST(ReadBudget, AHighRatioIsABombOnlyWhenMuchCameOut) {
  ReadBudget budget({}, 100);
  EXPECT_FALSE(budget.charge(16 * kMiB));
  const auto stop = budget.charge(1);
  ASSERT_TRUE(stop);
  EXPECT_EQ(stop->code, "bomb");
  EXPECT_TRUE(budget.exhausted());
}

TEST(ReadBudget, TheRatioIsAllowedUpToTheLimit) {
  ReadBudget budget({}, kMiB);
  EXPECT_FALSE(budget.charge(300 * kMiB));
  EXPECT_TRUE(budget.charge(kMiB));
  EXPECT_FALSE(budget.judge_ratio(300 * kMiB, kMiB));
  EXPECT_TRUE(budget.judge_ratio(301 * kMiB, kMiB));
  EXPECT_TRUE(budget.judge_ratio(17 * kMiB, 0));
}

TEST(ReadBudget, AbsurdNumbersDoNotWrapAround) {
  ReadBudget budget({}, UINT64_MAX);
  EXPECT_TRUE(budget.charge(UINT64_MAX));
  EXPECT_TRUE(budget.charge(UINT64_MAX));
}

TEST(ReadBudget, MembersAreCounted) {
  ReadLimits limits;
  limits.max_members = 2;
  ReadBudget budget(limits, 100);
  EXPECT_FALSE(budget.count_member());
  EXPECT_FALSE(budget.count_member());
  EXPECT_EQ(budget.count_member()->code, "too_many_members");
  EXPECT_TRUE(budget.exhausted());
}

TEST(BytesText, IsShortAndExactWhereItCanBe) {
  EXPECT_EQ(bytes_text(17), "17 bytes");
  EXPECT_EQ(bytes_text(1000), "1000 bytes");
  EXPECT_EQ(bytes_text(4ull << 30), "4 GiB");
  EXPECT_EQ(bytes_text(50'000), "48 KiB");
  EXPECT_EQ(bytes_text(UINT64_MAX), "16777215 TiB");
}

TEST(GrowBuffer, KeepsWhatIsUsedAndDoubles) {
  std::string buffer = "abc";
  ASSERT_TRUE(grow_buffer(buffer, 3, 4, 1000));
  EXPECT_EQ(buffer, "abc\0\0\0"s);
  ASSERT_TRUE(grow_buffer(buffer, 3, 100, 1000));
  EXPECT_EQ(buffer.size(), 100u);
  EXPECT_TRUE(buffer.starts_with("abc"));
  const char* const before = buffer.data();
  ASSERT_TRUE(grow_buffer(buffer, 3, 50, 1000));
  EXPECT_EQ(buffer.data(), before);
  EXPECT_EQ(buffer.size(), 100u);
  ASSERT_TRUE(grow_buffer(buffer, 3, 101, 120));
  EXPECT_EQ(buffer.size(), 120u);
}

TEST(GrowBuffer, NoMemoryIsAnAnswer) {
  std::string buffer = "abc";
  EXPECT_FALSE(grow_buffer(buffer, 3, UINT64_MAX, UINT64_MAX));
  EXPECT_EQ(buffer, "abc");
}

}  // namespace
}  // namespace unhang::os
