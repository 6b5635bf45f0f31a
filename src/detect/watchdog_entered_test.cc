// SPDX-License-Identifier: Apache-2.0
#include "detect/watchdog_entered.h"

#include <gtest/gtest.h>

#include "detect/case_builder_for_tests.h"
#include "detect/resolve.h"

namespace unhang::detect {
namespace {

// Four ranks stand in an all_reduce; rank 2 left no dump.
model::Case stalled(std::int64_t gave_up_on) {
  CaseBuilder c(4);
  const auto world = c.group("0", "default_pg", {0, 1, 2, 3});
  c.done(world, "all_reduce").open(world, "all_reduce", {0, 1, 3}).silent(2);
  model::Case joined = c.take();
  joined.inputs.push_back({"rank2.log", "log", {}});
  joined.logs.lines = 1;
  joined.logs.origins.emplace_back().global_rank = 2;
  model::WatchdogTimeout timeout;
  timeout.input = static_cast<std::uint32_t>(joined.inputs.size() - 1);
  timeout.group = "0";
  timeout.sequence = gave_up_on;
  timeout.operation = "ALLREDUCE";
  if (gave_up_on >= 0) joined.logs.timeouts.push_back(timeout);
  return joined;
}

std::string says(const model::Verdict& verdict) {
  std::string out = std::string(model::name_of(verdict.category)) + "/" + std::string(verdict.cause) + " " +
                    std::string(model::name_of(verdict.confidence));
  for (const auto& culprit : verdict.culprits) out += " " + std::to_string(culprit.rank.value_or(-1));
  return out;
}

TEST(WatchdogEntered, WhoGaveUpOnTheSameCollectiveEntered) {
  EXPECT_EQ(says(diagnose(stalled(2))), "transport_stall/unknown low");
  EXPECT_EQ(says(diagnose(stalled(-1))), "process_or_device_unavailable/rank_silent low 2");
}

TEST(WatchdogEntered, WhoGaveUpElsewhereIsNotBlamed) {
  EXPECT_TRUE(diagnose(stalled(1)).culprits.empty());
}

// Two groups in opposite order. Rank 4 left no dump, but its watchdog tells that it waits with the others: on
// which side the members of the small group are is then a guess.
TEST(WatchdogEntered, ACycleWithMostOfAGroupUnseenIsAGuess) {
  for (const bool seen : {true, false}) {
    CaseBuilder c(5);
    const auto world = c.group("0", "default_pg", {0, 1, 2, 3, 4});
    const auto three = c.group("1", "tp", {2, 3, 4});
    c.done(world, "all_reduce").done(three, "all_reduce");
    c.open(world, "all_reduce", {0, 1, 3, 4}).open(three, "all_reduce", {2});
    if (!seen) c.silent(4);
    model::Case joined = c.take();
    joined.inputs.push_back({"rank4.log", "log", {}});
    joined.logs.lines = 1;
    joined.logs.origins.emplace_back().global_rank = 4;
    model::WatchdogTimeout timeout;
    timeout.input = static_cast<std::uint32_t>(joined.inputs.size() - 1);
    timeout.group = "0";
    timeout.sequence = 2;
    timeout.operation = "ALLREDUCE";
    joined.logs.timeouts.push_back(timeout);
    EXPECT_EQ(says(diagnose(joined)),
              seen ? "collective_desync/order_inversion high 2" : "collective_desync/order_inversion low 2");
  }
}

}  // namespace
}  // namespace unhang::detect
