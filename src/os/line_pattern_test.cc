// SPDX-License-Identifier: Apache-2.0
#include "os/line_pattern.h"

#include <gtest/gtest.h>

namespace unhang::os {
namespace {

TEST(LinePattern, MatchesAnywhere) {
  const auto pattern = LinePattern::compile("vllm.*serve|train[0-9]+\\.py");
  ASSERT_TRUE(pattern);
  EXPECT_TRUE((*pattern)->matches("/usr/bin/python3 /opt/vllm serve model"));
  EXPECT_TRUE((*pattern)->matches("python3 train12.py"));
  EXPECT_FALSE((*pattern)->matches("python3 train.py"));
}

TEST(LinePattern, WhatIsNoneIsSaid) {
  const auto pattern = LinePattern::compile("(");
  ASSERT_FALSE(pattern);
  EXPECT_EQ(pattern.error().code, base::ErrorCode::kUsage);
  EXPECT_NE(pattern.error().message.find("'(' is no regular expression"), std::string::npos);
}

}  // namespace
}  // namespace unhang::os
