// SPDX-License-Identifier: Apache-2.0
//
// What the RAS detectors make of answers that name few: the text form, and that of NCCL 2.24 and 2.25.
#include <algorithm>

#include <gtest/gtest.h>

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

// As the text gives it: only these ranks are named, the rest is a number.
void keep_named(model::RasCommunicator& communicator, const Ranks& named) {
  for (auto& rank : communicator.ranks) {
    if (std::find(named.begin(), named.end(), rank.rank) != named.end()) continue;
    rank.host.clear();
    rank.pid = -1;
    rank.cuda_device = rank.nvml_device = -1;
  }
}

TEST(RasLag, ARankBehindInMoreCommunicatorsIsTheRootWhereTheWaitersAreUnnamed) {
  auto world = communicator(0xa, 16, 100);
  auto tp = sub_communicator(0xb, world, {8, 9, 10, 11}, 400);
  set_count(tp, 1, RasCollective::kAllReduce, 399);
  for (const int rank : {8, 9, 10, 11}) set_count(world, rank, RasCollective::kAllReduce, 99);
  keep_named(tp, {1});
  const auto verdict = diagnose(ras_case({view({world, tp})}));
  EXPECT_EQ(culprits(verdict), Ranks{9});
  EXPECT_EQ(suspects(verdict), (Ranks{8, 10, 11}));
}

TEST(RasLag, SeveralCollectivesAreNamedTogetherAndWithoutTheNumbersOfOne) {
  auto world = communicator(0xa, 8, 100);
  set_count(world, 3, RasCollective::kAllReduce, 98);
  for (auto& rank : world.ranks) rank.counts[static_cast<std::size_t>(RasCollective::kAllGather)] = 50;
  set_count(world, 6, RasCollective::kAllGather, 49);
  const auto verdict = diagnose(ras_case({view({world})}));
  EXPECT_NE(verdict.headline.find("ranks 3,6 are behind in AllGather and AllReduce of "), std::string::npos)
      << verdict.headline;
  EXPECT_EQ(verdict.headline.find("launched"), std::string::npos) << verdict.headline;
}

TEST(RasLag, CountsAboveWhatSignedNumbersHoldAreSaidAsTheyAre) {
  auto world = communicator(0xa, 4, (1ull << 63) + 5);
  set_count(world, 2, RasCollective::kAllReduce, 1ull << 63);
  const auto verdict = diagnose(ras_case({view({world})}));
  EXPECT_NE(
      verdict.headline.find("the majority launched 9223372036854775813, it launched 9223372036854775808"),
      std::string::npos)
      << verdict.headline;
}

TEST(RasLag, UnnamedRanksAheadAreNoProofThatNobodyIsBehind) {
  model::RasCommunicator world;
  world.hash = 0xa;
  world.size = 64;
  world.mismatch = true;
  world.shares = {{RasCollective::kAllReduce, 99, model::RasStatus::kUnknown, 50, {}},
                  {RasCollective::kAllReduce, 100, model::RasStatus::kUnknown, 14, {}}};
  const auto verdict = diagnose(ras_case({view({world})}));
  EXPECT_EQ(verdict.category, Category::kInconclusive);
  EXPECT_NE(verdict.headline.find("14 ranks are ahead"), std::string::npos) << verdict.headline;
}

TEST(NothingWrong, ATableOfATextAnswerTellsOfInitialisationAndAbort) {
  auto answer = view({communicator(0xa, 8, 0)});
  answer.communicators.front().ranks.clear();
  model::RasRow row;
  row.communicators = 1;
  row.size = 8;
  row.status = model::RasStatus::kInit;
  answer.rows = {row};
  auto verdict = diagnose(ras_case({answer}));
  EXPECT_EQ(verdict.category, Category::kInconclusive);
  EXPECT_EQ(verdict.state, State::kStarting);
  EXPECT_EQ(verdict.headline, "all ranks of a communicator of 8 ranks are still initialising");
  answer.rows[0].status = model::RasStatus::kAbort;
  verdict = diagnose(ras_case({answer}));
  EXPECT_EQ(verdict.category, Category::kInconclusive);
  EXPECT_NE(verdict.headline.find("have aborted"), std::string::npos);
  answer.rows[0].status = model::RasStatus::kRunning;
  EXPECT_EQ(diagnose(ras_case({answer})).category, Category::kHealthy);
  answer.rows[0].mismatch = true;
  EXPECT_EQ(diagnose(ras_case({answer})).category, Category::kInconclusive);
}

// NCCL 2.24 and 2.25: numbers of ranks, and the lost processes apart from them.
void lose_by_number(model::RasCommunicator& communicator, std::int32_t rank) {
  lose(communicator, rank, RasPresence::kMissing);
  auto& lost = communicator.ranks[static_cast<std::size_t>(rank)];
  lost.host.clear();
  lost.pid = -1;
}

TEST(RasLostProcess, NumbersInSmallerCommunicatorsAddNobody) {
  auto world = communicator(0xa, 8, 100);
  auto sub = sub_communicator(0xb, world, {4, 5, 6, 7}, 100);
  lose_by_number(world, 5);
  lose_by_number(sub, 1);
  auto joined = ras_case({view({world, sub})});
  joined.ras.views[0].communicators[1].ranks[1].global_rank = -1;
  const auto verdict = diagnose(joined);
  EXPECT_EQ(culprits(verdict), Ranks{5});
  EXPECT_EQ(verdict.where.group, "communicator 000000000000000a (8 ranks)");
}

TEST(RasLostProcess, MoreRanksWithoutDataThanLostProcessesNameTheProcessOnly) {
  auto world = communicator(0xa, 8, 100);
  lose_by_number(world, 5);
  lose_by_number(world, 6);
  auto answer = view({world});
  answer.lost_processes = {{"10.0.0.2", 105, {1}, {}, true}};
  auto joined = ras_case({answer});
  for (auto& rank : joined.ras.views[0].communicators[0].ranks) rank.global_rank = rank.rank;
  const auto verdict = diagnose(joined);
  ASSERT_EQ(verdict.culprits.size(), 1u);
  EXPECT_EQ(verdict.culprits[0].pid, 105);
  EXPECT_FALSE(verdict.culprits[0].rank);
  EXPECT_EQ(suspects(verdict), (Ranks{5, 6}));
  EXPECT_EQ(verdict.headline,
            "process 105 on 10.0.0.2 is dead; which of ranks 5,6 it is, this release does not say");
}

TEST(RasLostProcess, ALostProcessWithoutACommunicatorIsNamed) {
  auto answer = view({communicator(0xa, 4, 1)});
  answer.lost_processes = {{"10.0.0.9", 900, {0}, {}, false}};
  const auto verdict = diagnose(ras_case({answer}));
  ASSERT_EQ(verdict.culprits.size(), 1u);
  EXPECT_EQ(verdict.culprits[0].pid, 900);
  EXPECT_EQ(verdict.headline.find("process 900 on 10.0.0.9 does not answer"), 0u) << verdict.headline;
}

TEST(RasLostProcess, RanksThatATextAnswerDoesNotPlaceAreNotOneProcess) {
  auto world = communicator(0xa, 8, 100);
  lose(world, 3, RasPresence::kDead);
  lose(world, 5, RasPresence::kUnresponsive);
  keep_named(world, {3, 5});
  EXPECT_EQ(diagnose(ras_case({view({world})})).confidence, Confidence::kHigh);
}

TEST(RasLostProcess, SilenceInTheLatestAnswerAloneIsNotYetCertain) {
  const auto well = communicator(0xa, 8, 100);
  auto silent = well;
  lose(silent, 5, RasPresence::kUnresponsive);
  EXPECT_EQ(diagnose(ras_case({view({well}, 0), view({silent}, 60)})).confidence, Confidence::kMedium);
  EXPECT_EQ(diagnose(ras_case({view({silent}, 0), view({silent}, 60)})).confidence, Confidence::kHigh);
}

}  // namespace
}  // namespace unhang::detect
