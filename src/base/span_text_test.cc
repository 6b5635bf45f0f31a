// SPDX-License-Identifier: Apache-2.0
#include "base/span_text.h"

#include <limits>

#include <gtest/gtest.h>

namespace unhang::base {
namespace {

TEST(SpanText, Rounds) {
  EXPECT_EQ(span_text(0), "0 us");
  EXPECT_EQ(span_text(-5), "0 us");
  EXPECT_EQ(span_text(340'400), "340 us");
  EXPECT_EQ(span_text(2'449'000), "2.4 ms");
  EXPECT_EQ(span_text(2'000'000), "2 ms");
  EXPECT_EQ(span_text(150'600'000), "151 ms");
  EXPECT_EQ(span_text(999'990'000), "1 s");
  EXPECT_EQ(span_text(90'000'000'000), "1.5 min");
  EXPECT_EQ(span_text(std::numeric_limits<std::int64_t>::max()), "106752 d");
}

TEST(BytesText, InPowersOf1024) {
  EXPECT_EQ(bytes_text(0), "0 B");
  EXPECT_EQ(bytes_text(64), "64 B");
  EXPECT_EQ(bytes_text(8192), "8 KiB");
  EXPECT_EQ(bytes_text(1'572'864), "1.5 MiB");
  EXPECT_EQ(bytes_text(std::numeric_limits<std::int64_t>::max()), "8388608 TiB");
}

TEST(RatioText, IsShort) {
  EXPECT_EQ(ratio_text(1.62), "1.6");
  EXPECT_EQ(ratio_text(12.4), "12");
  EXPECT_EQ(ratio_text(2), "2");
  EXPECT_EQ(ratio_text(-1), "0");
  EXPECT_EQ(ratio_text(std::numeric_limits<double>::quiet_NaN()), "0");
  EXPECT_EQ(percent_text(0.046), "4.6 %");
  EXPECT_EQ(percent_text(1), "100 %");
}

}  // namespace
}  // namespace unhang::base
