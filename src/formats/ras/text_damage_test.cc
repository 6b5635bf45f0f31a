// SPDX-License-Identifier: Apache-2.0
//
// Text answers that cannot be right: known bugs of NCCL, reports that run through each other, hostile input.
#include <algorithm>

#include <gtest/gtest.h>

#include "formats/ras/sample_for_tests.h"

namespace unhang::formats::ras {
namespace {

using model::RasAnswer;
using model::RasCommunicator;
using model::RasPresence;

bool lacks_a_rank_of(const RasAnswer& answer, RasPresence presence) {
  return std::none_of(answer.communicators.begin(), answer.communicators.end(),
                      [&](const auto& communicator) {
                        return std::any_of(communicator.ranks.begin(), communicator.ranks.end(),
                                           [&](const auto& rank) { return rank.presence == presence; });
                      });
}

TEST(RasTextDamage, ZeroRowsOfACommunicatorBeingMade) {
  for (const char* name : {"v2.28.9-1/initbug-tp0-rank3.txt", "v2.30.7-1/initbug-tp0-rank3.txt"}) {
    SCOPED_TRACE(name);
    const Evidence evidence = read_evidence("x", recorded(name));
    EXPECT_EQ(problem_codes(evidence), "corrupt_answer");
    const RasAnswer& answer = evidence.ras_answers.at(0);
    EXPECT_TRUE(answer.corrupt);
    EXPECT_TRUE(answer.complete);
    for (const model::RasRow& row : answer.rows) EXPECT_GT(row.size, 0);
    for (const RasCommunicator& communicator : answer.communicators) {
      EXPECT_FALSE(communicator.mismatch);
      EXPECT_GT(communicator.size, 0);
    }
    EXPECT_TRUE(lacks_a_rank_of(answer, RasPresence::kNoCommunicator));
  }
}

TEST(RasTextDamage, RanksThatCannotBe) {
  const Evidence evidence = read_evidence(
      "x", report("    0         1         2       3-4         8         7   RUNNING  INCOMPLETE\n"
                  "    1         1         0         0         0         0   RUNNING  INCOMPLETE\n",
                  "#0-0 (b79ec9689dde9dc4) INCOMPLETE\n  Missing communicator data from 1 rank\n"
                  "  Rank 5 -- GPU 1 managed by process 77 on node 10.0.0.2\n\n"
                  "#1-0 (a7eb000200000003) INCOMPLETE\n  Missing communicator data from 257 ranks\n"
                  "  Rank -418102440 -- [process information not found]\n"
                  "  Rank 999999999 -- [process information not found]\n"
                  "  Rank 3 -- [process information not found]\n\n",
                  "", "2.28.3"));
  EXPECT_EQ(problem_codes(evidence), "corrupt_answer");
  EXPECT_NE(evidence.problems[0].text.find("(line 28; 3 more of this kind)"), std::string::npos)
      << evidence.problems[0].text;
  const RasAnswer& answer = evidence.ras_answers.at(0);
  EXPECT_TRUE(answer.corrupt);
  ASSERT_EQ(answer.communicators.size(), 1u);
  EXPECT_TRUE(answer.communicators[0].incomplete);
  ASSERT_EQ(answer.communicators[0].ranks.size(), 1u);
  EXPECT_EQ(answer.communicators[0].ranks[0].rank, 5);
}

TEST(RasTextDamage, ARankBeyondTheSize) {
  const RasAnswer answer =
      one_answer(report(kRow8Mismatch, "",
                        "#0-0 (b79ec9689dde9dc4) MISMATCH\n"
                        "  Communicator ranks have different AllReduce operation counts\n"
                        "  7 ranks have launched up to operation 100\n"
                        "  Rank 8 has launched up to operation 99\n\n"));
  EXPECT_TRUE(answer.corrupt);
  EXPECT_TRUE(answer.communicators.at(0).ranks.empty());
}

TEST(RasTextDamage, MoreMissingRanksThanThereAre) {
  const RasAnswer answer = one_answer(
      report("    0         1         1         4         8         4   RUNNING  INCOMPLETE\n",
             "#0-0 (a7eb000200000003) INCOMPLETE\n  Missing communicator data from 257 ranks\n\n", ""));
  EXPECT_TRUE(answer.corrupt);
  EXPECT_TRUE(answer.communicators.empty());
}

TEST(RasTextDamage, FewerRanksThanTheSizeAndNoWord) {
  const RasAnswer answer = one_answer(
      report("    0         1         1         4         8         4   RUNNING      OK\n", "", ""));
  EXPECT_TRUE(answer.corrupt);
  // Communicators of one group may share GPUs, so there are fewer of them than ranks.
  EXPECT_FALSE(
      one_answer(
          report("    0         2         1         4         4         4   RUNNING      OK\n", "", ""))
          .corrupt);
}

// Two requests on one connection: the second report begins where the first waits for its data.
TEST(RasTextDamage, ReportsThatRunThroughEachOther) {
  const std::string whole = recorded("v2.24.3-1/lag-one-8.txt");
  const std::size_t waiting = whole.find("Communicators...") + std::string("Communicators...").size();
  for (const std::string& mess :
       {whole.substr(0, waiting) + whole, whole.substr(0, waiting) + whole + whole.substr(waiting)}) {
    const Evidence evidence = read_evidence("x", mess);
    EXPECT_EQ(problem_codes(evidence).substr(0, 11), "interleaved");
    ASSERT_EQ(evidence.ras_answers.size(), 1u);
    EXPECT_TRUE(evidence.ras_answers[0].corrupt);
    EXPECT_EQ(evidence.ras_answers[0].nccl_version, "2.24.3");
  }
  // Sections that come twice: nothing in it is sure.
  const std::size_t errors = whole.find("Errors\n");
  const Evidence twice = read_evidence("x", whole + whole.substr(errors));
  ASSERT_EQ(twice.ras_answers.size(), 1u);
  EXPECT_TRUE(twice.ras_answers[0].corrupt);
  EXPECT_TRUE(twice.ras_answers[0].communicators.empty());
}

TEST(RasTextDamage, BlocksThatTheTablePromisesAndThatAreNotThere) {
  const std::string whole = recorded("v2.30.7-1/one-comm-only-status-then-next.txt");
  const Evidence evidence = read_evidence("x", whole.substr(0, whole.find("#1-1")));
  EXPECT_EQ(problem_codes(evidence), "truncated");
  EXPECT_FALSE(evidence.ras_answers.at(0).complete);
  const RasCommunicator& first = evidence.ras_answers[0].communicators.at(0);
  EXPECT_EQ(first.ranks.size(), 1u) << "nothing is deduced";
}

TEST(RasTextDamage, ATruncatedAnswerBeforeAWholeOne) {
  const std::string whole = recorded("v2.24.3-1/lag-one-8.txt");
  // Between two lines, and in the middle of an address.
  for (const std::size_t cut : {whole.find("\nErrors\n") + 1, whole.rfind(".1.2") + 2}) {
    const Evidence evidence = read_evidence("x", whole.substr(0, cut) + whole);
    EXPECT_EQ(problem_codes(evidence), "truncated");
    ASSERT_EQ(evidence.ras_answers.size(), 2u);
    EXPECT_FALSE(evidence.ras_answers[0].complete);
    EXPECT_FALSE(evidence.ras_answers[0].corrupt);
    EXPECT_EQ(evidence.ras_answers[0].rows.size(), 1u);
    for (const RasCommunicator& communicator : evidence.ras_answers[0].communicators) {
      EXPECT_TRUE(communicator.ranks.empty());
    }
    EXPECT_TRUE(evidence.ras_answers[1].complete);
    EXPECT_EQ(evidence.ras_answers[1].communicators.at(0).ranks.size(), 8u);
  }
}

TEST(RasTextDamage, HugeSizesDoNotCostMemory) {
  std::string text;
  for (int i = 0; i < 50; ++i) {
    text += report("    0         1         2         4   4000000   4000000   RUNNING  MISMATCH\n", "",
                   "#0-0 (b79ec9689dde9dc4) MISMATCH\n"
                   "  Communicator ranks have different AllReduce operation counts\n"
                   "  3999999 ranks have launched up to operation 100\n"
                   "  Rank 5 has launched up to operation 99\n\n");
  }
  const Evidence evidence = read_evidence("x", text);
  EXPECT_EQ(problem_codes(evidence), "not_deduced");
  ASSERT_EQ(evidence.ras_answers.size(), 50u);
  for (const RasAnswer& answer : evidence.ras_answers) EXPECT_EQ(answer.communicators.at(0).ranks.size(), 1u);
}

}  // namespace
}  // namespace unhang::formats::ras
