// SPDX-License-Identifier: Apache-2.0
#include "report/time_words.h"

#include <gtest/gtest.h>

namespace unhang::report {
namespace {

TEST(TimeWords, SinceWhenItStands) {
  model::IncidentTimes times;
  EXPECT_EQ(stall_words(times), "");
  times.detected = "2026-11-29T17:10:11.000000000Z";
  EXPECT_EQ(stall_words(times), "");
  times.stalled_since = "2026-11-29T17:00:10.123456789Z";
  EXPECT_EQ(stall_words(times), "2026-11-29T17:00:10Z, detected 10m later");
  times.ended = "2026-11-29T18:31:45.000000000Z";
  EXPECT_EQ(stall_words(times), "2026-11-29T17:00:10Z, detected 10m later, last sign of it 1h31m later");
}

TEST(TimeWords, WhatIsNotLaterIsNotSaid) {
  model::IncidentTimes times;
  times.stalled_since = "2026-11-29T17:00:10.000000000Z";
  times.detected = times.stalled_since;
  times.ended = "no time";
  EXPECT_EQ(stall_words(times), "2026-11-29T17:00:10Z");
}

}  // namespace
}  // namespace unhang::report
