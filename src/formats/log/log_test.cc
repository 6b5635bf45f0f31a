// SPDX-License-Identifier: Apache-2.0
#include "formats/log/log.h"

#include <string>

#include <gtest/gtest.h>

#include "formats/catalogue.h"

namespace unhang::formats {
namespace {

TEST(TextLog, IsTheLastFormat) {
  EXPECT_EQ(format_catalogue().back().id, "log");
  const Evidence evidence = read_evidence("x.log", "h:1:2 [0] NCCL INFO Using network IB\n");
  EXPECT_EQ(evidence.kind, "log");
  ASSERT_EQ(evidence.logs.size(), 1u);
  EXPECT_EQ(evidence.logs[0].recognised, 1u);
}

TEST(TextLog, KeepsAJobsLogWithoutAKnownLine) {
  const Evidence evidence = read_evidence("x.log", "all ranks are ready\n");
  ASSERT_EQ(evidence.logs.size(), 1u);
  EXPECT_TRUE(evidence.logs[0].empty());
  EXPECT_EQ(evidence.logs[0].lines, 1u);
}

TEST(TextLog, OtherTextIsNotRecognised) {
  const Evidence evidence = read_evidence("x.txt", "Dear Sir, the flowers on the array of tables.\n");
  EXPECT_EQ(evidence.kind, "unknown");
  ASSERT_EQ(evidence.logs.size(), 1u) << "its lines are counted";
  EXPECT_TRUE(evidence.logs[0].empty());
  ASSERT_EQ(evidence.problems.size(), 1u);
  EXPECT_EQ(evidence.problems[0].code, "not_recognised");
}

TEST(TextLog, BinaryIsNoText) {
  std::string bytes = "NCCL INFO ";
  for (int i = 0; i < 4096; ++i) bytes += static_cast<char>(i * 7);
  EXPECT_FALSE(log::sniff(bytes));
  EXPECT_FALSE(log::sniff(std::string(100, '\0')));
  EXPECT_TRUE(log::sniff(std::string(1000, '\0') + "h:1:2 [0] NCCL INFO x\n"));
}

TEST(TextLog, Utf16IsRefusedWithTheRemedy) {
  const Evidence evidence = read_evidence("x.log", std::string("\xff\xfeN\0C\0", 6));
  EXPECT_TRUE(evidence.logs.empty());
  ASSERT_EQ(evidence.problems.size(), 1u);
  EXPECT_EQ(evidence.problems[0].code, "utf16");
}

}  // namespace
}  // namespace unhang::formats
