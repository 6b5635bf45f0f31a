// SPDX-License-Identifier: Apache-2.0
#include "detect/rank_clock.h"

#include <tuple>

#include <gtest/gtest.h>

namespace unhang::detect {
namespace {

TEST(RankClock, TakesOffWhatIsKnownOfTheHost) {
  model::Case joined;
  for (const char* host : {"a", "b", "c", ""}) joined.ranks.emplace_back().host = host;
  for (const auto& [host, offset, known] :
       {std::tuple("a", 0, true), {"b", 2'000, true}, {"c", 9'000, false}}) {
    model::HostClock& clock = joined.clocks.emplace_back();
    clock.host = host;
    clock.offset_ns = offset;
    clock.known = known;
  }
  const RankClock clock(joined);
  EXPECT_EQ(clock.common(0, 10'000), 10'000);
  EXPECT_EQ(clock.common(1, 10'000), 8'000);
  EXPECT_EQ(clock.common(2, 10'000), 10'000) << "an offset that is not known is none";
  EXPECT_EQ(clock.common(3, 10'000), 10'000);
  EXPECT_EQ(clock.common(1, 0), 0) << "not recorded";
}

}  // namespace
}  // namespace unhang::detect
