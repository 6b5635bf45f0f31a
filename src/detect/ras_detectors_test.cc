// SPDX-License-Identifier: Apache-2.0
//
// What the RAS detectors say, one by one and through the resolver.
#include <gtest/gtest.h>

#include "detect/detector.h"
#include "detect/ras_view_for_tests.h"
#include "detect/resolve.h"

namespace unhang::detect {
namespace {

using fixture::communicator;
using fixture::culprits;
using fixture::lose;
using fixture::ras_case;
using fixture::set_count;
using fixture::sub_communicator;
using fixture::suspects;
using fixture::view;
using model::Category;
using model::Confidence;
using model::RasCollective;
using model::RasPresence;
using model::State;
using Ranks = std::vector<std::int32_t>;

constexpr std::int64_t kSecond = 1'000'000'000;

TEST(RasLag, OneAnswerNamesTheLaggardAtLowConfidenceAndSaysToAskAgain) {
  auto world = communicator(0xa, 8, 100);
  set_count(world, 5, RasCollective::kAllReduce, 99);
  const auto verdict = diagnose(ras_case({view({world})}));
  EXPECT_EQ(verdict.findings.at(0).id, "ras_lag-1");
  EXPECT_EQ(verdict.category, Category::kCollectiveDesync);
  EXPECT_EQ(verdict.cause, "rank_not_entered");
  EXPECT_EQ(verdict.confidence, Confidence::kLow);
  EXPECT_EQ(verdict.state, State::kUnknown);
  EXPECT_EQ(culprits(verdict), Ranks{5});
  EXPECT_EQ(verdict.culprits[0].pid, 105);
  EXPECT_EQ(verdict.where.operation, "AllReduce");
  EXPECT_EQ(verdict.where.ordinal, 100);
  ASSERT_FALSE(verdict.recovery.steps.empty());
  EXPECT_EQ(verdict.recovery.steps[0].command, "unhang ras watch");
  EXPECT_EQ(exit_code(verdict), 3);
}

TEST(RasLag, WhatStandsStillBetweenAnswersIsAStall) {
  auto world = communicator(0xa, 8, 100);
  set_count(world, 5, RasCollective::kAllReduce, 99);
  const auto soon = diagnose(ras_case({view({world}, 0), view({world}, 10 * kSecond)}));
  EXPECT_EQ(soon.state, State::kStopped);
  EXPECT_EQ(soon.confidence, Confidence::kMedium);
  const auto later = diagnose(ras_case({view({world}, 0), view({world}, 60 * kSecond)}));
  EXPECT_EQ(later.confidence, Confidence::kHigh);
  EXPECT_EQ(culprits(later), Ranks{5});
  EXPECT_EQ(later.victims.size(), 7u);
  EXPECT_EQ(exit_code(later), 2);
}

TEST(RasLag, ARunningJobWithADifferenceIsHealthy) {
  auto before = communicator(0xa, 8, 100);
  auto after = communicator(0xa, 8, 140);
  set_count(before, 5, RasCollective::kAllReduce, 99);
  set_count(after, 5, RasCollective::kAllReduce, 139);
  const auto verdict = diagnose(ras_case({view({before}, 0), view({after}, 2 * kSecond)}));
  EXPECT_EQ(verdict.category, Category::kHealthy);
  EXPECT_EQ(verdict.state, State::kAdvancing);
  EXPECT_TRUE(verdict.culprits.empty());
}

TEST(RasLag, ARankThatIsBehindBecauseItWaitsElsewhereIsAVictim) {
  auto world = communicator(0xa, 8, 100);
  set_count(world, 5, RasCollective::kAllReduce, 99);
  // Rank 5 is ahead of 4 in their own group: it waits there for rank 4, which is behind only there.
  auto pair = sub_communicator(0xb, world, {4, 5, 6}, 30);
  set_count(pair, 0, RasCollective::kAllReduce, 29);
  const auto verdict = diagnose(ras_case({view({world, pair})}));
  EXPECT_EQ(verdict.category, Category::kInconclusive) << verdict.headline;  // 4 waits in the world: a circle
  EXPECT_EQ(suspects(verdict), (Ranks{4, 5}));

  set_count(world, 4, RasCollective::kAllReduce, 99);
  const auto clear = diagnose(ras_case({view({world, pair})}));
  EXPECT_EQ(clear.category, Category::kCollectiveDesync);
  EXPECT_EQ(culprits(clear), Ranks{4});
}

TEST(RasLag, OfSeveralThatAreBehindTheFurthestIsNamed) {
  auto world = communicator(0xa, 8, 248);
  set_count(world, 5, RasCollective::kAllReduce, 247);
  set_count(world, 6, RasCollective::kAllReduce, 0);
  const auto verdict = diagnose(ras_case({view({world})}));
  EXPECT_EQ(culprits(verdict), Ranks{6});
  EXPECT_EQ(suspects(verdict), Ranks{5});
}

TEST(RasLag, OppositeCountsAreAnotherOperation) {
  auto world = communicator(0xa, 8, 100);
  set_count(world, 3, RasCollective::kAllReduce, 99);
  set_count(world, 3, RasCollective::kAllGather, 1);
  const auto verdict = diagnose(ras_case({view({world})}));
  EXPECT_EQ(verdict.cause, "op_mismatch");
  EXPECT_EQ(culprits(verdict), Ranks{3});
}

TEST(RasLag, ATieNamesNobody) {
  auto world = communicator(0xa, 4, 100);
  set_count(world, 0, RasCollective::kAllReduce, 99);
  set_count(world, 1, RasCollective::kAllReduce, 99);
  const auto verdict = diagnose(ras_case({view({world})}));
  EXPECT_EQ(verdict.category, Category::kInconclusive);
  EXPECT_TRUE(verdict.culprits.empty());
  EXPECT_EQ(suspects(verdict), (Ranks{0, 1}));
  EXPECT_NE(verdict.headline.find("tie"), std::string::npos);
}

TEST(RasLag, LeadersThatNobodyFollowsMadeAnExtraCall) {
  auto world = communicator(0xa, 8, 100);
  set_count(world, 2, RasCollective::kAllReduce, 101);
  const auto once = diagnose(ras_case({view({world})}));
  EXPECT_EQ(once.category, Category::kInconclusive);
  EXPECT_EQ(suspects(once), Ranks{2});
  const auto stands = diagnose(ras_case({view({world}, 0), view({world}, 20 * kSecond)}));
  EXPECT_EQ(stands.cause, "extra_collective");
  EXPECT_EQ(culprits(stands), Ranks{2});
}

TEST(RasLostProcess, AnUnresponsiveProcessIsNamedAndADeadOneIsCertain) {
  auto world = communicator(0xa, 8, 100);
  lose(world, 5, RasPresence::kUnresponsive);
  const auto silent = diagnose(ras_case({view({world})}));
  EXPECT_EQ(silent.category, Category::kProcessOrDeviceUnavailable);
  EXPECT_EQ(silent.cause, "rank_silent");
  EXPECT_EQ(silent.confidence, Confidence::kMedium);
  EXPECT_EQ(silent.state, State::kStopped);  // dead is what was declared so
  EXPECT_EQ(culprits(silent), Ranks{5});
  lose(world, 5, RasPresence::kDead);
  EXPECT_EQ(diagnose(ras_case({view({world})})).confidence, Confidence::kHigh);
}

TEST(RasLostProcess, AWholeHostIsANode) {
  auto world = communicator(0xa, 8, 100);
  for (const int rank : {4, 5, 6, 7}) lose(world, rank, RasPresence::kUnresponsive);
  const auto verdict = diagnose(ras_case({view({world})}));
  EXPECT_EQ(verdict.cause, "node_unreachable");
  EXPECT_EQ(culprits(verdict), (Ranks{4, 5, 6, 7}));
  EXPECT_NE(verdict.headline.find("10.0.0.2"), std::string::npos);
}

// Who was stopped, given up and continued calls all others dead.
TEST(RasLostProcess, ALoneSurvivorIsNotTrusted) {
  auto world = communicator(0xa, 4, 100);
  for (const int rank : {0, 1, 3}) lose(world, rank, RasPresence::kDead);
  EXPECT_EQ(diagnose(ras_case({view({world})})).confidence, Confidence::kLow);
}

TEST(RasLostProcess, ALagBesideALostProcessIsItsShadow) {
  auto world = communicator(0xa, 8, 100);
  set_count(world, 2, RasCollective::kAllReduce, 99);
  lose(world, 5, RasPresence::kDead);
  const auto verdict = diagnose(ras_case({view({world}, 0), view({world}, 60 * kSecond)}));
  EXPECT_EQ(verdict.category, Category::kProcessOrDeviceUnavailable);
  EXPECT_EQ(culprits(verdict), Ranks{5});
}

TEST(RasInitialization, AFailureNamesWhoMetIt) {
  auto world = communicator(0xa, 8, 0);
  for (auto& rank : world.ranks) {
    rank.status = model::RasStatus::kInit;
    rank.init_state = model::NcclResult::kRemote;
  }
  world.ranks[4].init_state = model::NcclResult::kUnhandledCuda;
  const auto verdict = diagnose(ras_case({view({world})}));
  EXPECT_EQ(verdict.findings.at(0).id, "ras_initialization-1");
  EXPECT_EQ(verdict.category, Category::kInitializationHang);
  EXPECT_EQ(culprits(verdict), Ranks{4});
  EXPECT_EQ(verdict.confidence, Confidence::kMedium);
}

TEST(RasInitialization, SomeStillInitialisingIsALeadAndAllIsAStart) {
  auto world = communicator(0xa, 8, 0);
  for (const std::size_t rank : {6, 7}) world.ranks[rank].status = model::RasStatus::kInit;
  const auto some = diagnose(ras_case({view({world})}));
  EXPECT_EQ(some.category, Category::kInitializationHang);
  EXPECT_EQ(some.confidence, Confidence::kLow);
  EXPECT_EQ(culprits(some), (Ranks{6, 7}));
  for (auto& rank : world.ranks) rank.status = model::RasStatus::kInit;
  const auto all = diagnose(ras_case({view({world})}));
  EXPECT_EQ(all.category, Category::kInconclusive);
  EXPECT_EQ(all.state, State::kStarting);
  EXPECT_TRUE(all.culprits.empty());
}

TEST(RasError, ARemoteErrorNamesWhoNoticedAndNotWhoCaused) {
  auto world = communicator(0xa, 8, 100);
  world.ranks[6].async_error = model::NcclResult::kRemote;
  const auto verdict = diagnose(ras_case({view({world})}));
  EXPECT_EQ(verdict.findings.at(0).id, "ras_error-1");
  EXPECT_EQ(verdict.category, Category::kTransportStall);
  EXPECT_TRUE(verdict.culprits.empty());
  EXPECT_EQ(suspects(verdict), Ranks{6});
}

TEST(RasError, AnErrorOfItsOwnOnFewRanksNamesThem) {
  auto world = communicator(0xa, 8, 100);
  world.ranks[6].async_error = model::NcclResult::kUnhandledCuda;
  EXPECT_EQ(culprits(diagnose(ras_case({view({world})}))), Ranks{6});
  for (auto& rank : world.ranks) rank.async_error = model::NcclResult::kUnhandledCuda;
  EXPECT_TRUE(diagnose(ras_case({view({world})})).culprits.empty());
}

TEST(RasTeardown, ALeftCommunicatorIsALeadOnly) {
  auto world = communicator(0xa, 8, 100);
  lose(world, 2, RasPresence::kNoCommunicator);
  const auto verdict = diagnose(ras_case({view({world})}));
  EXPECT_EQ(verdict.findings.at(0).id, "ras_teardown-1");
  EXPECT_EQ(verdict.category, Category::kInconclusive);
  EXPECT_TRUE(verdict.culprits.empty());
  EXPECT_EQ(suspects(verdict), Ranks{2});
}

TEST(RasTeardown, AnOrderlyEndIsHealthy) {
  auto world = communicator(0xa, 4, 100);
  for (auto& rank : world.ranks) rank.status = model::RasStatus::kFinalize;
  EXPECT_EQ(diagnose(ras_case({view({world})})).category, Category::kHealthy);
  for (auto& rank : world.ranks) rank.status = model::RasStatus::kAbort;
  EXPECT_EQ(diagnose(ras_case({view({world})})).category, Category::kInconclusive);
}

model::RasEvidence::Event event(const char* word, std::int64_t pid) {
  model::RasEvidence::Event out;
  out.event.event = word;
  out.event.host = "10.0.0.1";
  out.event.pid = pid;
  out.event.timestamp = "2026-11-29 15:12:42";
  return out;
}

TEST(RasPeerEvent, ADeathIsNamedAndARecoveryForgotten) {
  model::Case joined;
  joined.inputs.push_back({"events.txt", "nccl_ras_events", {}});
  joined.ras.events = {event("PEER_UNRESPONSIVE", 7), event("PEER_UNRESPONSIVE", 8),
                       event("PEER_RECOVERED", 8), event("PEER_DEAD", 7)};
  const auto verdict = diagnose(joined);
  EXPECT_EQ(verdict.findings.at(0).id, "ras_peer_event-1");
  EXPECT_EQ(verdict.category, Category::kProcessOrDeviceUnavailable);
  ASSERT_EQ(verdict.culprits.size(), 1u);
  EXPECT_EQ(verdict.culprits[0].kind, model::SubjectKind::kProcess);
  EXPECT_EQ(verdict.culprits[0].pid, 7);
  joined.ras.events.pop_back();
  EXPECT_TRUE(diagnose(joined).culprits.empty());
}

TEST(RasPeerEvent, WithAnAnswerTheRankIsKnown) {
  auto joined = ras_case({view({communicator(0xa, 4, 100)})});
  joined.ras.events = {event("PEER_DEAD", 102)};
  EXPECT_EQ(culprits(diagnose(joined)), Ranks{2});
}

TEST(RasNothingWrong, EqualCountsSayWhyTheyProveNothing) {
  const auto world = communicator(0xa, 8, 100);
  const auto verdict = diagnose(ras_case({view({world}, 0), view({world}, 60 * kSecond)}));
  EXPECT_EQ(verdict.category, Category::kHealthy);
  EXPECT_EQ(verdict.state, State::kUnknown);
  EXPECT_EQ(verdict.confidence, Confidence::kLow);
  ASSERT_EQ(verdict.progress.size(), 1u);
  EXPECT_FALSE(verdict.progress[0].usable);
  EXPECT_NE(verdict.progress[0].why_not.find("cannot tell"), std::string::npos);
}

TEST(RasNothingWrong, ADamagedAnswerConcludesNothing) {
  auto damaged = view({communicator(0xa, 8, 100)});
  damaged.corrupt = true;
  EXPECT_EQ(diagnose(ras_case({damaged})).category, Category::kInconclusive);
}

TEST(RasNothingWrong, AJobThatAdvancesExceptForOneRankIsNotCalledHealthy) {
  auto before = communicator(0xa, 8, 100);
  auto after = communicator(0xa, 8, 140);
  set_count(before, 5, RasCollective::kAllReduce, 99);
  set_count(after, 5, RasCollective::kAllReduce, 99);
  const auto verdict = diagnose(ras_case({view({before}, 0), view({after}, 40 * kSecond)}));
  EXPECT_EQ(verdict.category, Category::kInconclusive);
  EXPECT_EQ(verdict.state, State::kAdvancing);
  EXPECT_NE(verdict.headline.find("rank 5 of "), std::string::npos) << verdict.headline;
  EXPECT_TRUE(verdict.culprits.empty());
}

}  // namespace
}  // namespace unhang::detect
