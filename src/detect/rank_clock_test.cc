// SPDX-License-Identifier: Apache-2.0
#include "detect/rank_clock.h"

#include <gtest/gtest.h>

namespace unhang::detect {
namespace {

TEST(RankClock, TakesOffWhatIsKnownOfTheHost) {
  model::Case joined;
  for (const char* host : {"a", "b", "c", ""}) joined.ranks.emplace_back().host = host;
  joined.clocks = {{.host = "a", .known = true},
                   {.host = "b", .offset_ns = 2'000, .known = true},
                   {.host = "c", .offset_ns = 9'000, .known = false}};
  const RankClock clock(joined);
  EXPECT_EQ(clock.common(0, 10'000), 10'000);
  EXPECT_EQ(clock.common(1, 10'000), 8'000);
  EXPECT_EQ(clock.common(2, 10'000), 10'000) << "an offset that is not known is none";
  EXPECT_EQ(clock.common(3, 10'000), 10'000);
  EXPECT_EQ(clock.common(1, 0), 0) << "not recorded";
}

}  // namespace
}  // namespace unhang::detect
