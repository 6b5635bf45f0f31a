// SPDX-License-Identifier: Apache-2.0
#include "join/ras_jobs.h"

#include <gtest/gtest.h>

#include "join/ras_time.h"
#include "model/ras_answers_for_tests.h"

namespace unhang::join {
namespace {

namespace fixture = model::fixture;
using fixture::answer;
using fixture::communicator;
using model::RasPresence;

constexpr std::int64_t kSecond = 1'000'000'000;

std::uint64_t all_reduces(const model::RasRank& rank) {
  return rank.counts[static_cast<std::size_t>(model::RasCollective::kAllReduce)].value();
}

TEST(RasTime, ReadsTheDateAsPrintedAndNothingElse) {
  EXPECT_EQ(read_local_time("1970-01-02 00:00:01"), 86'401 * kSecond);
  EXPECT_EQ(read_local_time("2026-11-29 15:01:29"), 1'795'964'489 * kSecond);
  for (const char* wrong :
       {"", "2026-11-29", "2026-13-29 15:01:29", "2026-02-30 15:01:29", "2026-11-29T15:01:29",
        "2026-11-29 25:01:29", "0000-00-00 00:00:00", "2026-11-29 15:01:2x"})
    EXPECT_FALSE(read_local_time(wrong).has_value()) << wrong;
}

TEST(RasJobs, TellsTwoJobsBehindOnePortApart) {
  const auto jobs = unite_ras({{answer({communicator(0xa, 2, 5, 100)}), 0, {}},
                               {answer({communicator(0xb, 4, 9, 200)}), 1, {}},
                               {answer({communicator(0xa, 2, 5, 100)}), 2, {}}},
                              true);
  ASSERT_EQ(jobs.size(), 2u);
  ASSERT_EQ(jobs[0].size(), 1u);
  EXPECT_EQ(jobs[0][0].communicators[0].hash, 0xbu);  // the larger job first
  EXPECT_EQ(jobs[1][0].communicators[0].hash, 0xau);
  EXPECT_EQ(jobs[1][0].sources, (std::vector<std::uint32_t>{0, 2}));
}

TEST(RasJobs, AJobIsOneAlsoWhereItsSocketsSeeOtherCommunicators) {
  const auto world = communicator(0xa, 8, 5);
  const auto jobs = unite_ras({{answer({world, fixture::sub_communicator(0xb, world, {0, 1}, 3)}), 0, {}},
                               {answer({fixture::sub_communicator(0xc, world, {6, 7}, 4)}), 1, {}}},
                              true);
  ASSERT_EQ(jobs.size(), 1u);
  EXPECT_EQ(jobs[0][0].communicators.size(), 3u);
}

TEST(RasJobs, OfOneMomentTheHigherCountIsTheLaterOne) {
  auto early = communicator(0xa, 4, 5);
  auto late = communicator(0xa, 4, 6);
  for (const bool swapped : {false, true}) {
    const auto jobs = unite_ras(
        {{answer({swapped ? late : early}), 0, {}}, {answer({swapped ? early : late}), 1, {}}}, true);
    ASSERT_EQ(jobs.size(), 1u);
    EXPECT_EQ(all_reduces(jobs[0][0].communicators[0].ranks[3]), 6u);
  }
}

TEST(RasJobs, ARankThatAnotherSocketHeardAnswers) {
  auto deaf = communicator(0xa, 4, 5);
  fixture::lose(deaf, 2, RasPresence::kUnresponsive);
  const auto jobs = unite_ras({{answer({deaf}), 0, {}}, {answer({communicator(0xa, 4, 5)}), 1, {}}}, true);
  EXPECT_EQ(jobs[0][0].communicators[0].ranks[2].presence, RasPresence::kAnswered);
  EXPECT_TRUE(jobs[0][0].contradicted.empty());
}

// A process that was given up and then went on answers for itself and calls all others dead.
TEST(RasJobs, TheViewOfTheManyWinsOverThatOfAZombie) {
  auto many = communicator(0xa, 4, 5);
  fixture::lose(many, 2, RasPresence::kDead);
  auto zombie = communicator(0xa, 4, 5);
  for (const int rank : {0, 1, 3}) fixture::lose(zombie, rank, RasPresence::kDead);
  const auto jobs = unite_ras({{answer({zombie}), 0, {}}, {answer({many}), 1, {}}}, true);
  const auto& ranks = jobs[0][0].communicators[0].ranks;
  EXPECT_EQ(ranks[2].presence, RasPresence::kDead);
  for (const std::size_t rank : {0, 1, 3}) EXPECT_EQ(ranks[rank].presence, RasPresence::kAnswered);
  EXPECT_EQ(jobs[0][0].contradicted.size(), 4u);
}

TEST(RasJobs, OrdersMomentsByTimeWhateverTheOrderOfTheFiles) {
  const auto jobs = unite_ras({{answer({communicator(0xa, 2, 7)}, "2026-11-29 10:00:20"), 0, {}},
                               {answer({communicator(0xa, 2, 5)}, "2026-11-29 10:00:00"), 1, {}},
                               {answer({communicator(0xa, 2, 6)}, "2026-11-29 10:00:10"), 2, {}}});
  ASSERT_EQ(jobs.size(), 1u);
  ASSERT_EQ(jobs[0].size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(all_reduces(jobs[0][i].communicators[0].ranks[0]), 5 + i);
  EXPECT_TRUE(jobs[0][0].is_local_time);
  EXPECT_EQ(*jobs[0][2].time_ns - *jobs[0][0].time_ns, 20 * kSecond);
}

TEST(RasJobs, AnswersOfOneSecondAreOneMoment) {
  const auto jobs = unite_ras({{answer({communicator(0xa, 2, 5)}, "2026-11-29 10:00:00"), 0, {}},
                               {answer({communicator(0xa, 2, 5)}, "2026-11-29 10:00:00"), 1, {}}});
  EXPECT_EQ(jobs[0].size(), 1u);
}

TEST(RasJobs, WithoutTimesTheOrderGivenIsKept) {
  const auto jobs =
      unite_ras({{answer({communicator(0xa, 2, 9)}), 0, {}}, {answer({communicator(0xa, 2, 5)}), 1, {}}});
  ASSERT_EQ(jobs[0].size(), 2u);
  EXPECT_EQ(all_reduces(jobs[0][0].communicators[0].ranks[0]), 9u);
  EXPECT_FALSE(jobs[0][0].time_ns.has_value());
}

TEST(RasJobs, TextOfAHealthyJobIsKnownByItsTable) {
  model::RasAnswer healthy;
  healthy.nccl_version = "2.30.7";
  healthy.complete = true;
  healthy.rows.push_back({});
  healthy.rows[0].communicators = 1;
  healthy.rows[0].size = healthy.rows[0].ranks = 8;
  model::RasAnswer other = healthy;
  other.rows[0].size = other.rows[0].ranks = 4;
  const auto jobs = unite_ras({{healthy, 0, {}}, {other, 1, {}}, {healthy, 2, {}}});
  ASSERT_EQ(jobs.size(), 2u);
  EXPECT_EQ(jobs[0].size() + jobs[1].size(), 3u);
}

TEST(RasJobs, SecondaryHashesTellCommunicatorsOfOneHashApart) {
  auto one = communicator(0xa, 2, 5);
  auto two = communicator(0xa, 2, 9);
  one.secondary_hash = "0x1:0x1";
  two.secondary_hash = "0x2:0x2";
  const auto jobs = unite_ras({{answer({one, two}), 0, {}}, {answer({two}), 1, {}}}, true);
  ASSERT_EQ(jobs[0][0].communicators.size(), 2u);
  EXPECT_EQ(all_reduces(jobs[0][0].communicators[0].ranks[0]), 5u);
}

TEST(RasJobs, CommunicatorsOfOneHashStayApartHoweverManyThereAre) {
  std::vector<model::RasCommunicator> many;
  for (int i = 0; i < 20'000; ++i) {
    many.push_back(communicator(0xa, 1, 5, 100 + i));
    many.back().secondary_hash = "0x1:0x" + std::to_string(i);
  }
  auto nameless = communicator(0xa, 1, 9, 100);
  const auto jobs = unite_ras({{answer(many), 0, {}}, {answer({nameless}), 1, {}}}, true);
  ASSERT_EQ(jobs.size(), 1u);
  ASSERT_EQ(jobs[0].size(), 1u);
  EXPECT_EQ(jobs[0][0].communicators.size(), 20'000u);
  EXPECT_EQ(all_reduces(jobs[0][0].communicators[0].ranks[0]), 9u);
}

// Rank 2 was given up and goes on: it calls everybody else dead, before, with and after the others.
TEST(RasJobs, WhoWasGivenUpIsNoWitnessWheneverItAnswers) {
  auto others = communicator(0xa, 8, 5);
  fixture::lose(others, 2, RasPresence::kDead);
  auto given_up = communicator(0xa, 8, 5);
  for (const int rank : {0, 1, 3, 4, 5, 6, 7}) fixture::lose(given_up, rank, RasPresence::kDead);
  for (const char* when : {"2026-11-29 15:06:00", "2026-11-29 15:07:00", "2026-11-29 15:08:00"}) {
    const auto jobs =
        unite_ras({{answer({others}, "2026-11-29 15:07:00"), 0, {}}, {answer({given_up}, when), 1, {}}});
    ASSERT_EQ(jobs.size(), 1u);
    ASSERT_EQ(jobs[0].size(), 1u) << when;
    EXPECT_EQ(jobs[0][0].communicators[0].ranks[0].presence, RasPresence::kAnswered);
    EXPECT_EQ(jobs[0][0].communicators[0].ranks[2].presence, RasPresence::kDead);
    EXPECT_FALSE(jobs[0][0].contradicted.empty());
  }
  // Deaths that add up are a story, and stay one.
  auto later = others;
  fixture::lose(later, 5, RasPresence::kDead);
  const auto story = unite_ras(
      {{answer({others}, "2026-11-29 15:07:00"), 0, {}}, {answer({later}, "2026-11-29 15:09:00"), 1, {}}});
  EXPECT_EQ(story[0].size(), 2u);
}

TEST(RasJobs, OfAJobAndItsRestartTheLaterComesFirst) {
  for (const bool swapped : {false, true}) {
    AskedAnswer before{answer({communicator(0xa, 4, 90, 100)}, "2026-11-29 15:00:00"), 0, {}};
    AskedAnswer after{answer({communicator(0xb, 4, 3, 900)}, "2026-11-29 15:10:00"), 1, {}};
    if (swapped) std::swap(before, after);
    const auto jobs = unite_ras({before, after});
    ASSERT_EQ(jobs.size(), 2u);
    EXPECT_EQ(jobs[0][0].communicators[0].hash, 0xbu);
  }
}

}  // namespace
}  // namespace unhang::join
