// SPDX-License-Identifier: Apache-2.0
#include "join/log_coverage.h"

#include <gtest/gtest.h>

namespace unhang::join {
namespace {

model::Case four_ranks_on_two_hosts() {
  model::Case joined;
  for (int rank = 0; rank < 4; ++rank) {
    joined.ranks.emplace_back().global_rank = rank;
    joined.ranks.back().host = rank < 2 ? "node1" : "node2";
  }
  joined.hosts = {{"node1", {}, {0, 1}}, {"node2", {}, {2, 3}}};
  return joined;
}

const model::CoverageRow* row(const model::Case& joined, std::string_view source) {
  for (const auto& row : joined.coverage) {
    if (row.source == source) return &row;
  }
  return nullptr;
}

TEST(LogCoverage, WhatIsNotAmongTheInputsHasNoRow) {
  model::Case joined = four_ranks_on_two_hosts();
  cover_logs({}, joined);
  EXPECT_TRUE(joined.coverage.empty());
}

TEST(LogCoverage, CountsRanksWithLinesAndHostsWithKernelLogs) {
  model::Case joined = four_ranks_on_two_hosts();
  joined.logs.origins.resize(2);
  joined.logs.origins[0].host = "node1";
  joined.logs.origins[0].global_rank = 1;
  joined.logs.origins[1].host = "node2";
  joined.logs.origins[1].label = "kernel";
  cover_logs({}, joined);
  ASSERT_NE(row(joined, "log"), nullptr);
  EXPECT_EQ(row(joined, "log")->seen, std::vector<model::RankIndex>{1});
  EXPECT_EQ(row(joined, "log")->absent, (std::vector<model::RankIndex>{0, 2, 3}));
  ASSERT_NE(row(joined, "kernel_log"), nullptr);
  EXPECT_EQ(row(joined, "kernel_log")->seen, (std::vector<model::RankIndex>{2, 3}));
  EXPECT_EQ(row(joined, "stacks"), nullptr);
}

TEST(LogCoverage, AKernelLogInWhichNothingHappenedCounts) {
  model::Case joined = four_ranks_on_two_hosts();
  joined.inputs = {{"incident/node1/dmesg.txt", "log", {}}, {"incident/node2/train.log", "log", {}}};
  cover_logs({}, joined);
  ASSERT_NE(row(joined, "kernel_log"), nullptr);
  EXPECT_EQ(row(joined, "kernel_log")->seen, (std::vector<model::RankIndex>{0, 1}));
}

}  // namespace
}  // namespace unhang::join
