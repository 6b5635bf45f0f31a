// SPDX-License-Identifier: Apache-2.0
//
// pg_status counts collectives and transfers together: where it counts other work than the collectives that
// the entries show, or is not surely of this group, it says nothing about them.
#include <gtest/gtest.h>

#include "join/dumps_for_tests.h"

namespace unhang::join {
namespace {

using model::Operation;

// An active-only dump: one collective is open after 14,148 transfers, which are no longer in it.
TestDump after_transfers(const std::string& path) {
  TestDump d(path);
  d.world("[0, 1]")
      .first_record(500)
      .counts(14148, 0)
      .call("all_reduce", 29, "scheduled")
      .status(0, 14148, 14147);
  return d;
}

TEST(OtherWork, TransfersThatLeftTheDumpAreCountedStill) {
  const model::Case joined = join_all(list(after_transfers("dump_0").finish()));
  const model::Rank& rank = joined.ranks.at(0);
  EXPECT_TRUE(joined.groups.at(0).carries_p2p);
  EXPECT_TRUE(rank.only_active);
  EXPECT_FALSE(rank.operations.at(0).has(Operation::kFinished));
  EXPECT_EQ(rank.lane(0)->last_enqueued, 29);
  EXPECT_EQ(rank.lane(0)->last_completed, 28);
  EXPECT_EQ(rank.lane(0)->last_work, 14148);
}

// One member's counter is enough: the idle one's status counts the same work, and is not compared.
TEST(OtherWork, OneMemberTellsForTheGroup) {
  TestDump idle("dump_1");
  idle.world("[0, 1]").status(0, 14148, 14148);
  const model::Case joined = join_all(list(after_transfers("dump_0").finish(), idle.finish()));
  EXPECT_TRUE(joined.groups.at(0).carries_p2p);
  EXPECT_EQ(joined.ranks.at(1).lane(0)->last_enqueued, std::nullopt);
  EXPECT_EQ(joined.ranks.at(1).lane(0)->last_completed, std::nullopt);
  EXPECT_EQ(joined.ranks.at(1).lane(0)->last_work, 14148);
}

// Where no entry counts transfers, the numbers are those of collectives.
TEST(OtherWork, StatusOfCollectivesAloneIsUsed) {
  TestDump open("dump_0");
  open.world("[0, 1]").first_record(500).call("all_reduce", 29, "scheduled").status(0, 29, 28);
  EXPECT_EQ(join_all(list(open.finish())).ranks.at(0).lane(0)->last_completed, 28);
  TestDump idle("dump_0");
  idle.world("[0, 1]").call("all_reduce", 1, "completed").status(0, 29, 29);
  EXPECT_EQ(join_all(list(idle.finish())).ranks.at(0).lane(0)->last_enqueued, 29);
}

// The recorder numbers its groups in the order of their making; words have no such order.
TEST(OtherWork, GroupsWithWordsForNamesGetNoStatusByOrder) {
  for (const char* name : {"tp", "7f3a"}) {
    TestDump d("dump_0");
    d.world("[0, 1]").group(name, "tensor", "[0, 1]").status(0, 5, 5).status(1, 88, 88);
    const model::Case joined = join_all(list(d.finish()));
    for (const model::Lane& lane : joined.ranks.at(0).lanes) {
      EXPECT_EQ(lane.last_enqueued, std::nullopt) << name;
      EXPECT_EQ(lane.last_completed, std::nullopt) << name;
      EXPECT_FALSE(lane.status_inferred) << name;
    }
  }
}

}  // namespace
}  // namespace unhang::join
