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

TEST(LinePattern, WhatCouldTakeForEverIsRefused) {
  for (const char* text : {"(a*)*b\\1", "((x{1,255}){1,255}){1,255}"})
    EXPECT_FALSE(LinePattern::compile(text)) << text;
  EXPECT_FALSE(LinePattern::compile(std::string(300, 'a')));
  EXPECT_TRUE(LinePattern::compile("sleep 61\\.2[5]"));
}

TEST(LinePattern, WhatIsNoneIsSaid) {
  const auto pattern = LinePattern::compile("(");
  ASSERT_FALSE(pattern);
  EXPECT_EQ(pattern.error().code, base::ErrorCode::kUsage);
  EXPECT_NE(pattern.error().message.find("'(' is no regular expression"), std::string::npos);
}

}  // namespace
}  // namespace unhang::os
