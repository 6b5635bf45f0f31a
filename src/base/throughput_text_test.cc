// SPDX-License-Identifier: Apache-2.0
#include "base/throughput_text.h"

#include <gtest/gtest.h>

namespace unhang::base {
namespace {

void expect(std::string_view text, double value, const std::string& unit) {
  const auto found = last_throughput(text);
  ASSERT_TRUE(found.has_value()) << text;
  EXPECT_DOUBLE_EQ(found->value, value) << text;
  EXPECT_EQ(found->unit, unit) << text;
}

TEST(ThroughputText, ReadsWhatProgramsPrint) {
  expect(
      "INFO Avg prompt throughput: 1.0 tokens/s, Avg generation throughput: 1,234.5 tokens/s, Running: 3 "
      "reqs",
      1234.5, "tokens/s");
  expect("samples/s: 12.25", 12.25, "samples/s");
  expect("step 3 | 88.5 samples/sec", 88.5, "samples/s");
  expect("  3%|#  | 3/100 [00:01<00:31,  3.5it/s]", 3.5, "it/s");
  expect("  3%|#  | 3/100 [00:01<00:31,  2.00s/it]", 0.5, "it/s");
  expect("# Avg bus bandwidth    : 412.312 \n#\n", 412.312, "GB/s busbw");
}

TEST(ThroughputText, TheLastOneCounts) {
  expect("1.0 it/s\r2.0 it/s\r3.0 it/s\nbye\n", 3, "it/s");
}

TEST(ThroughputText, OtherSlashesAreNone) {
  for (const std::string_view text : {"", "\n\n", "/usr/s/it", "at /data/tokens/s3", "tokens/s",
                                      "n/a tokens/sum", "Avg bus bandwidth", "0 s/it"})
    EXPECT_FALSE(last_throughput(text).has_value()) << text;
}

}  // namespace
}  // namespace unhang::base
