// SPDX-License-Identifier: Apache-2.0
#include "cli/progress_bar.h"

#include <gtest/gtest.h>

namespace unhang::cli {
namespace {

constexpr std::uint64_t kGiB = 1ull << 30;

TEST(ProgressBar, SaysHowMuchOfHowMuchAndHowFast) {
  EXPECT_EQ(progress_line(kGiB / 2, 2 * kGiB, 2, 50), "0.5 of 2.0 GiB  25 %  256.0 MiB/s  [###----------]");
  EXPECT_EQ(progress_line(0, 1000, 0, 30), "0 of 1000 B  0 %  [----------]");
  EXPECT_EQ(progress_line(1000, 1000, 1, 39), "1000 of 1000 B  100 %  1000 B/s");  // no room for a bar
}

TEST(ProgressBar, HowMuchThereIsMayNotBeKnownOrWrong) {
  EXPECT_EQ(progress_line(3 * kGiB, 0, 3, 80), "3.0 GiB  1.0 GiB/s");
  EXPECT_EQ(progress_line(2048, 1024, 0, 20), "2.0 of 2.0 KiB  100 ");  // grew while it was read; cut
  EXPECT_EQ(progress_line(2048, 1024, 0, 0), "");
}

TEST(ProgressBar, NothingWhereThereIsNoTerminal) {
  std::string text;
  {
    Output err(text);
    ProgressBar bar(&err, 100);
    bar.bytes_read() += 50;
    ProgressBar none(nullptr, 100);
  }
  EXPECT_EQ(text, "");
}

}  // namespace
}  // namespace unhang::cli
