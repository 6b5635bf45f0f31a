// SPDX-License-Identifier: Apache-2.0
//
// Detectors of collectives: what each finds, what it leaves alone, and what only looks like it.
#include <gtest/gtest.h>

#include "detect/case_builder_for_tests.h"
#include "detect/resolve.h"

namespace unhang::detect {
namespace {

using Ranks = std::vector<model::RankIndex>;

struct World {
  explicit World(int ranks) : c(ranks) {
    for (int i = 0; i < ranks; ++i) all.push_back(static_cast<model::RankIndex>(i));
    group = c.group("0", "default_pg", all);
    c.done(group, "all_reduce").done(group, "all_gather");
  }
  Ranks but(const Ranks& missing) const {
    Ranks out;
    for (const auto rank : all) {
      if (std::find(missing.begin(), missing.end(), rank) == missing.end()) out.push_back(rank);
    }
    return out;
  }
  // What the program as a whole answers.
  std::string verdict() {
    const model::Verdict v = diagnose(c.joined());
    std::string out = std::string(model::name_of(v.category)) + '/' + std::string(v.cause);
    for (const auto& culprit : v.culprits) out += ' ' + std::to_string(culprit.rank.value_or(-1));
    return out;
  }
  CaseBuilder c;
  Ranks all;
  model::GroupIndex group = 0;
};

TEST(NotEntered, OneMissing) {
  for (const model::RankIndex missing : {0u, 2u, 3u}) {
    World w(4);
    w.c.open(w.group, "all_reduce", w.but({missing}));
    EXPECT_EQ(summary(w.c.run(find_not_entered)),
              "collective_desync/rank_not_entered high " + std::to_string(missing));
  }
}

TEST(NotEntered, SeveralMissing) {
  World w(8);
  w.c.open(w.group, "all_reduce", w.but({0, 5}));
  EXPECT_EQ(summary(w.c.run(find_not_entered)), "collective_desync/rank_not_entered high 0,5");
}

TEST(NotEntered, NobodyWaits) {
  World w(4);
  EXPECT_EQ(summary(w.c.run(find_not_entered)), "nothing");
  w.c.open(w.group, "all_reduce", w.all);
  EXPECT_EQ(summary(w.c.run(find_not_entered)), "nothing");
}

// A victim that is missing too, because it waits in another group, is not blamed.
TEST(NotEntered, LeadsThroughOtherGroups) {
  World w(4);
  const auto low = w.c.group("1", "tp", {0, 1});
  const auto high = w.c.group("2", "tp", {2, 3});
  w.c.done(low, "all_reduce").done(high, "all_reduce");
  w.c.open(low, "all_reduce", {0});         // 1 never came
  w.c.open(w.group, "all_reduce", {2, 3});  // 0 and 1 are missing here
  EXPECT_EQ(summary(w.c.run(find_not_entered)), "collective_desync/rank_not_entered high 1");
}

TEST(NotEntered, NeverMadeACall) {
  CaseBuilder c(3);
  const auto world = c.group("0", "default_pg", {0, 1, 2});
  c.open(world, "all_reduce", {0, 2});
  EXPECT_EQ(summary(c.run(find_not_entered)), "initialization_hang/rank_never_joined high 1");
}

TEST(NotEntered, WrappedRingOfTheMissingOne) {
  World w(4);
  for (int i = 0; i < 20; ++i) w.c.done(w.group, "all_reduce");
  w.c.open(w.group, "all_reduce", w.but({1}));
  w.c.wrap(0, 7).wrap(1, 21).wrap(3, 15);
  EXPECT_EQ(summary(w.c.run(find_not_entered)), "collective_desync/rank_not_entered high 1");
}

TEST(NotEntered, LoneCallerMadeOneCallTooMany) {
  World w(8);
  w.c.open(w.group, "barrier", {6});
  const auto found = w.c.run(find_not_entered);
  EXPECT_EQ(summary(found), "collective_desync/extra_collective medium 6");
  ASSERT_FALSE(found[0].alternatives.empty());
  EXPECT_EQ(found[0].alternatives[0].cause, "rank_not_entered");
}

// Half of the group is no lone caller: those who did not enter are looked at first.
TEST(NotEntered, HalfIsNoExtraCall) {
  World w(4);
  w.c.open(w.group, "all_reduce", {0, 1});
  EXPECT_EQ(summary(w.c.run(find_not_entered)), "collective_desync/rank_not_entered high 2,3");
}

TEST(NotEntered, SilentRankBesideAPresentAbsentOne) {
  World w(6);
  w.c.open(w.group, "all_reduce", {0, 1, 2, 3}).silent(5);
  const auto found = w.c.run(find_not_entered);
  EXPECT_EQ(summary(found), "collective_desync/rank_not_entered medium 4");
  EXPECT_EQ(found[0].suspects, (Ranks{5}));
}

TEST(SilentRank, OthersWaitForIt) {
  World w(4);
  w.c.open(w.group, "all_reduce", w.but({3})).silent(3);
  EXPECT_EQ(summary(w.c.run(find_silent_rank)), "process_or_device_unavailable/rank_silent low 3");
  EXPECT_EQ(summary(w.c.run(find_not_entered)), "nothing");
}

TEST(SilentRank, NobodyWaitsForIt) {
  World w(4);
  w.c.silent(3);
  EXPECT_EQ(summary(w.c.run(find_silent_rank)), "nothing");
}

TEST(SilentRank, DumpCutOffIsNotAbsence) {
  World w(4);
  w.c.open(w.group, "all_reduce", w.all).cut(2, 1);
  EXPECT_EQ(summary(w.c.run(find_silent_rank)), "process_or_device_unavailable/rank_silent low 2");
  EXPECT_EQ(summary(w.c.run(find_not_entered)), "nothing");
}

TEST(CallMismatch, OperationTypeAndSize) {
  struct Difference {
    const char* name;
    CallOptions options;
    const char* cause;
  };
  const Difference differences[] = {{"broadcast", {}, "op_mismatch"},
                                    {"all_reduce", dtype("Half"), "dtype_mismatch"},
                                    {"all_reduce", elements(65), "size_mismatch"}};
  for (const auto& d : differences) {
    for (const model::RankIndex odd : {0u, 2u}) {
      World w(4);
      w.c.same_time()
          .open(w.group, "all_reduce", w.but({odd}))
          .open(w.group, d.name, {odd}, d.options)
          .end_line();
      EXPECT_EQ(summary(w.c.run(find_call_mismatch)),
                std::string("collective_desync/") + d.cause + " high " + std::to_string(odd));
    }
  }
}

TEST(CallMismatch, TieOfTwoNamesBothAsPairOfEquals) {
  World w(2);
  w.c.same_time().open(w.group, "all_reduce", {0}).open(w.group, "all_gather", {1}).end_line();
  EXPECT_EQ(summary(w.c.run(find_call_mismatch)), "collective_desync/op_mismatch medium 0,1");
}

TEST(CallMismatch, TieOfMoreNamesNobody) {
  World w(4);
  w.c.same_time().open(w.group, "all_reduce", {0, 3}).open(w.group, "all_gather", {1, 2}).end_line();
  const auto found = w.c.run(find_call_mismatch);
  EXPECT_EQ(summary(found), "collective_desync/op_mismatch low");
  EXPECT_EQ(Ranks(found[0].suspects.begin(), found[0].suspects.end()).size(), 4u);
}

// [8,8] and [64] hold the same elements: nothing is wrong.
TEST(CallMismatch, ShapesWithEqualElementsFit) {
  World w(4);
  w.c.same_time().open(w.group, "all_reduce", w.but({1}));
  w.c.open(w.group, "all_reduce", {1}, {.in = {8, 8}, .out = {8, 8}}).end_line();
  EXPECT_EQ(summary(w.c.run(find_call_mismatch)), "nothing");
}

TEST(CallMismatch, SizesOfAllToAllDifferByDesign) {
  World w(4);
  w.c.same_time();
  for (const auto rank : w.all) w.c.open(w.group, "all_to_all", {rank}, elements(10 + rank, 10 + 3 - rank));
  w.c.end_line();
  EXPECT_EQ(summary(w.c.run(find_call_mismatch)), "nothing");
}

TEST(CallMismatch, UnknownNamesAreComparedByName) {
  World w(4);
  w.c.open(w.group, "brand_new_op", w.all);
  EXPECT_EQ(summary(w.c.run(find_call_mismatch)), "nothing");
  World other(4);
  other.c.same_time().open(other.group, "brand_new_op", other.but({3}));
  other.c.open(other.group, "other_new_op", {3}).end_line();
  EXPECT_EQ(summary(other.c.run(find_call_mismatch)), "collective_desync/op_mismatch high 3");
}

// A completed row that does not fit stops nobody.
TEST(CallMismatch, CompletedMismatchIsNoStall) {
  World w(4);
  w.c.same_time()
      .done(w.group, "all_reduce", w.but({2}))
      .done(w.group, "all_reduce", Ranks{2}, elements(3))
      .end_line();
  w.c.done(w.group, "all_reduce");
  const auto found = w.c.run(find_call_mismatch);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_FALSE(found[0].explains_stall);
  EXPECT_EQ(found[0].cause, "size_mismatch");
}

void async_calls(World& w, const Ranks& ranks, bool skip, bool extra) {
  w.c.same_time().open(w.group, "all_reduce", ranks, elements(1));
  if (!skip) w.c.open(w.group, "all_gather", ranks, elements(2, 8));
  if (extra) w.c.open(w.group, "broadcast", ranks, elements(9));
  w.c.open(w.group, "reduce_scatter", ranks, elements(16, 4)).open(w.group, "all_reduce", ranks, elements(5));
  w.c.end_line();
}

// Everything after a skipped call is shifted by one: one fault, not many.
TEST(CallMismatch, SkippedCallAmongAsyncOnes) {
  World w(4);
  async_calls(w, w.but({1}), false, false);
  async_calls(w, {1}, true, false);
  EXPECT_EQ(summary(w.c.run(find_call_mismatch)), "collective_desync/skipped_collective high 1");
}

TEST(CallMismatch, ExtraCallAmongAsyncOnes) {
  World w(4);
  async_calls(w, w.but({2}), false, false);
  async_calls(w, {2}, false, true);
  EXPECT_EQ(summary(w.c.run(find_call_mismatch)), "collective_desync/extra_collective high 2");
}

TEST(StaleWatchdog, OneOrTwoBehindIsNoFault) {
  for (const int gap : {1, 2}) {
    World w(4);
    for (int i = 0; i < gap; ++i)
      w.c.same_time().done(w.group, "all_reduce", w.but({2})).open(w.group, "all_reduce", {2}).end_line();
    EXPECT_EQ(summary(w.c.run(find_stale_watchdog)), "healthy/stale_watchdog medium (no stall)") << gap;
    EXPECT_EQ(summary(w.c.run(find_stopped_device)), "nothing") << gap;
    EXPECT_EQ(w.verdict().substr(0, 7), "healthy") << gap;
  }
}

TEST(StoppedDevice, ThreeOrMoreBehind) {
  for (const int gap : {3, 5, 40}) {
    World w(4);
    for (int i = 0; i < gap; ++i)
      w.c.same_time().done(w.group, "all_reduce", w.but({2})).open(w.group, "all_reduce", {2}).end_line();
    EXPECT_EQ(summary(w.c.run(find_stopped_device)),
              std::string("process_or_device_unavailable/gpu_not_progressing ") +
                  (gap >= 5 ? "high" : "medium") + " 2");
    EXPECT_EQ(summary(w.c.run(find_stale_watchdog)), "nothing") << gap;
  }
}

TEST(StoppedDevice, NotWhereEverybodyStandsAtTheSamePlace) {
  World w(4);
  for (int i = 0; i < 5; ++i) w.c.open(w.group, "all_reduce", w.all);
  EXPECT_EQ(summary(w.c.run(find_stopped_device)), "nothing");
}

// The root of a broadcast has done its part before the others read it.
TEST(StaleWatchdog, BroadcastRootMayFinishEarly) {
  World w(4);
  w.c.same_time().done(w.group, "broadcast", Ranks{0}).open(w.group, "broadcast", {1, 2}).end_line();
  EXPECT_EQ(summary(w.c.run(find_stale_watchdog)), "nothing");
  EXPECT_EQ(summary(w.c.run(find_not_entered)), "collective_desync/rank_not_entered high 3");
}

TEST(WaitCycle, GroupsEnteredInOppositeOrder) {
  CaseBuilder c(4);
  const auto a = c.group("1", "a", {0, 1, 2, 3});
  const auto b = c.group("2", "b", {0, 1, 2, 3});
  c.done(a, "all_reduce").done(b, "all_reduce");
  c.open(a, "all_reduce", {0, 1, 3}).open(b, "all_reduce", {2});
  EXPECT_EQ(summary(c.run(find_wait_cycle)), "collective_desync/order_inversion high 2");
  EXPECT_EQ(summary(c.run(find_not_entered)), "nothing");
}

TEST(WaitCycle, TwoRanksAreATie) {
  CaseBuilder c(2);
  const auto a = c.group("1", "a", {0, 1});
  const auto b = c.group("2", "b", {0, 1});
  c.done(a, "all_reduce").done(b, "all_reduce").open(a, "all_reduce", {0}).open(b, "all_reduce", {1});
  EXPECT_EQ(summary(c.run(find_wait_cycle)), "collective_desync/order_inversion medium 0,1");
}

// A chain that ends at a rank which waits for nobody is no circle.
TEST(WaitCycle, AChainIsNone) {
  CaseBuilder c(3);
  const auto a = c.group("1", "a", {0, 1});
  const auto b = c.group("2", "b", {1, 2});
  c.done(a, "all_reduce").done(b, "all_reduce").open(a, "all_reduce", {0}).open(b, "all_reduce", {1});
  EXPECT_EQ(summary(c.run(find_wait_cycle)), "nothing");
}

TEST(LaunchOrder, AsyncCallsInOppositeOrder) {
  CaseBuilder c(4);
  const auto a = c.group("1", "a", {0, 1, 2, 3});
  const auto b = c.group("2", "b", {0, 1, 2, 3});
  c.done(a, "all_reduce").done(b, "all_reduce");
  c.same_time()
      .open(a, "all_reduce", {0, 1, 3})
      .open(b, "all_reduce", {0, 1, 2, 3})
      .open(a, "all_reduce", {2})
      .end_line();
  EXPECT_EQ(summary(c.run(find_launch_order)), "collective_desync/order_inversion medium 2");
  EXPECT_EQ(summary(c.run(find_wait_cycle)), "nothing");
}

TEST(LaunchOrder, SameOrderEverywhere) {
  CaseBuilder c(4);
  const auto a = c.group("1", "a", {0, 1, 2, 3});
  const auto b = c.group("2", "b", {0, 1, 2, 3});
  c.open(b, "all_reduce", {0, 1, 2, 3}).open(a, "all_reduce", {0, 1, 2, 3});
  EXPECT_EQ(summary(c.run(find_launch_order)), "nothing");
}

TEST(SymmetricStall, EveryoneEntered) {
  World w(4);
  w.c.open(w.group, "all_reduce", w.all);
  EXPECT_EQ(summary(w.c.run(find_symmetric_stall)), "transport_stall/unknown medium");
}

// What is called after another open operation queues behind it, also where a wrong clock says that it came
// first.
TEST(SymmetricStall, TheFirstOfARankIsTheOne) {
  CaseBuilder c(4);
  c.host(2, "b", -60'000 * CaseBuilder::kMillisecond).host(3, "b", -60'000 * CaseBuilder::kMillisecond);
  const auto world = c.group("0", "default_pg", {0, 1, 2, 3});
  const auto left = c.group("1", "dp", {0, 1});
  const auto right = c.group("2", "dp", {2, 3});
  c.open(left, "all_to_all", {0, 1}, elements(8, 6));
  c.open(world, "all_reduce", {0, 1, 2, 3}).open(right, "all_gather", {2, 3});
  EXPECT_EQ(summary(c.run(find_symmetric_stall)), "collective_desync/split_mismatch low");
}

TEST(SymmetricStall, SomebodyMissingOrNothingOpen) {
  World w(4);
  EXPECT_EQ(summary(w.c.run(find_symmetric_stall)), "nothing");
  w.c.open(w.group, "all_reduce", w.but({1}));
  EXPECT_EQ(summary(w.c.run(find_symmetric_stall)), "nothing");
}

TEST(SymmetricStall, AllToAllWhoseSumsDoNotFit) {
  World w(4);
  w.c.same_time()
      .open(w.group, "all_to_all", w.but({3}), elements(8, 8))
      .open(w.group, "all_to_all", {3}, elements(8, 6));
  EXPECT_EQ(summary(w.c.end_line().run(find_symmetric_stall)), "collective_desync/split_mismatch medium 3");
  World fits(4);
  fits.c.same_time()
      .open(fits.group, "all_to_all", {0, 1}, elements(8, 6))
      .open(fits.group, "all_to_all", {2, 3}, elements(8, 10));
  EXPECT_EQ(summary(fits.c.end_line().run(find_symmetric_stall)), "transport_stall/unknown medium");
}

TEST(Verdict, FirstSufficientCauseIsTaken) {
  World w(4);
  w.c.open(w.group, "all_reduce", w.but({2}));
  EXPECT_EQ(w.verdict(), "collective_desync/rank_not_entered 2");
  World healthy(4);
  EXPECT_EQ(healthy.verdict().substr(0, 7), "healthy");
  World unknown(4);
  unknown.c.open(unknown.group, "brand_new_op", unknown.all);
  EXPECT_EQ(unknown.verdict(), "transport_stall/unknown");
}

}  // namespace
}  // namespace unhang::detect
