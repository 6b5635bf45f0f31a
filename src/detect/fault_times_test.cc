// SPDX-License-Identifier: Apache-2.0
#include "detect/fault_times.h"

#include <gtest/gtest.h>

#include "detect/case_builder_for_tests.h"

namespace unhang::detect {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

// Two ranks on node1 and node2 that stand in an all_reduce, or have finished it.
model::Case two_hosts(bool stands) {
  CaseBuilder c(2);
  const auto world = c.group("0", "default_pg", {0, 1});
  c.done(world, "all_reduce");
  if (stands) c.open(world, "all_reduce", {0, 1});
  model::Case joined = c.take();
  joined.ranks[0].host = "node1";
  joined.ranks[1].host = "node2";
  joined.logs.lines = 1;
  joined.logs.origins.emplace_back().host = "node2";
  return joined;
}

Explanation link_down(const model::LogEvent& event) {
  Explanation out;
  out.category = model::Category::kTransportStall;
  out.cause = "link_down";
  out.strength = model::Confidence::kMedium;
  out.headline = "a link went down";
  out.events = {&event};
  return out;
}

model::LogEvent event_at(model::LogClock clock, std::int64_t ns) {
  model::LogEvent event;
  event.kind = model::LogEventKind::kLinkDown;
  event.first = event.last = {clock, ns};
  return event;
}

Explanation weighed(const model::Case& joined, const model::LogEvent& event) {
  const Analysis analysis = analyse(joined);
  const HostTimes times(joined);
  Explanation told = link_down(event);
  weigh_fault_times(analysis, times, find_stall_start(analysis, times), true, told);
  return told;
}

TEST(FaultTimes, WhereNothingStandsAFaultOfAMachineStoppedNothing) {
  const model::Case joined = two_hosts(false);
  const Explanation told = weighed(joined, event_at(model::LogClock::kUtc, CaseBuilder::kStart));
  EXPECT_FALSE(told.explains_stall);
  EXPECT_EQ(told.headline, "a link went down; all operations of all ranks are finished");
}

TEST(FaultTimes, AClockThatCannotBeComparedLeavesTheOrderUnknown) {
  const model::Case joined = two_hosts(true);
  const Explanation local =
      weighed(joined, event_at(model::LogClock::kLocal, CaseBuilder::kStart - 5 * kSecond));
  EXPECT_TRUE(local.explains_stall);
  EXPECT_TRUE(local.order_unknown);
}

TEST(FaultTimes, WhatSurelyCameLaterIsNoCause) {
  model::Case joined = two_hosts(true);
  joined.ranks[1].host = "node1";
  joined.logs.origins[0].host = "node1";
  const Explanation late =
      weighed(joined, event_at(model::LogClock::kUtc, CaseBuilder::kStart + 7'200 * kSecond));
  EXPECT_FALSE(late.explains_stall);
  const Explanation before =
      weighed(joined, event_at(model::LogClock::kUtc, CaseBuilder::kStart - 5 * kSecond));
  EXPECT_TRUE(before.explains_stall);
  EXPECT_FALSE(before.order_unknown);
}

}  // namespace
}  // namespace unhang::detect
