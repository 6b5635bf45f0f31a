// SPDX-License-Identifier: Apache-2.0
//
// The JSON form leaves "entries" out where there are none: the rank is known to have done nothing, which is
// something else than a rank of which nothing is known.
#include <gtest/gtest.h>

#include "formats/catalogue.h"
#include "join/dumps_for_tests.h"

namespace unhang::join {
namespace {

// A whole JSON dump without entries; the numbers are pg_status' last enqueued and completed.
std::string without_entries(const std::string& number) {
  return R"({"version":"2.10","pg_config":{"0":{"name":"0","desc":"default_pg","ranks":"[0, 1]"}},)"
         R"("pg_status":{"0":{"last_enqueued_collective":")" +
         number + R"(","last_started_collective":"-1","last_completed_collective":")" + number + R"("}}})";
}

formats::Evidence read(const std::string& json) {
  return formats::read_evidence("dump_1", json);
}

TEST(NoEntriesKey, IsAnEmptyList) {
  const formats::Evidence evidence = read(without_entries("-1"));
  ASSERT_EQ(evidence.dumps.size(), 1u);
  EXPECT_TRUE(evidence.problems.empty());
  EXPECT_TRUE(evidence.dumps[0].has_entries);
  EXPECT_TRUE(evidence.dumps[0].complete);
}

TEST(NoEntriesKey, OfACutTextIsNotKnown) {
  const std::string whole = without_entries("-1");
  const formats::Evidence evidence = read(whole.substr(0, whole.size() - 1));
  ASSERT_EQ(evidence.dumps.size(), 1u);
  EXPECT_FALSE(evidence.dumps[0].has_entries);
  EXPECT_FALSE(evidence.dumps[0].complete);
}

// The rank of that dump beside one that waits in its first collective: seen, and known never to have entered.
TEST(NoEntriesKey, RankIsKnownToHaveNeverCalled) {
  TestDump waits("dump_0");
  waits.world("[0, 1]").call("all_reduce", 1, "scheduled");
  const model::Case joined = join_all(list(waits.finish(), read(without_entries("-1"))));
  const model::Rank& rank = joined.ranks.at(1);
  EXPECT_TRUE(rank.operations_known);
  EXPECT_TRUE(rank.tail_known);
  EXPECT_FALSE(rank.only_active);
  EXPECT_EQ(rank.lane(0)->last_enqueued, -1);
  EXPECT_EQ(joined.coverage.at(0).seen, (std::vector<model::RankIndex>{0, 1}));
  EXPECT_TRUE(joined.coverage.at(0).partial.empty());
}

// Its counters say how far it came: its completed work was left out.
TEST(NoEntriesKey, RankThatCompletedSomethingIsActiveOnly) {
  TestDump waits("dump_0");
  waits.world("[0, 1]").first_record(8).call("all_reduce", 9, "scheduled").status(0, 9, 8);
  const model::Case joined = join_all(list(waits.finish(), read(without_entries("8"))));
  const model::Rank& rank = joined.ranks.at(1);
  EXPECT_TRUE(rank.tail_known);
  EXPECT_TRUE(rank.only_active);
  EXPECT_EQ(rank.lane(0)->last_enqueued, 8);
  EXPECT_EQ(rank.lane(0)->last_completed, 8);
}

}  // namespace
}  // namespace unhang::join
