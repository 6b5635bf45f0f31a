// SPDX-License-Identifier: Apache-2.0
//
// The text form, paragraph by paragraph.
#include <algorithm>

#include <gtest/gtest.h>

#include "formats/ras/sample_for_tests.h"

namespace unhang::formats::ras {
namespace {

using model::NcclResult;
using model::RasAnswer;
using model::RasCollective;
using model::RasCommunicator;
using model::RasPresence;
using model::RasStatus;

TEST(RasText, VersionsSummaryAndTable) {
  const Evidence evidence = read_evidence(
      "x",
      report("    0         1         2       6-8        16        14   RUNNING  INCOMPLETE,ERROR,MISMATCH\n"
             "    1         8         1         2         2        16  FINALIZE      OK\n",
             "", ""));
  EXPECT_EQ(evidence.kind, "nccl_ras_text");
  ASSERT_EQ(evidence.ras_answers.size(), 1u);
  const RasAnswer& answer = evidence.ras_answers[0];
  EXPECT_EQ(answer.nccl_version, "2.30.7");
  EXPECT_EQ(answer.cuda_runtime, "12080");
  EXPECT_EQ(answer.cuda_driver, "12090");
  EXPECT_EQ(answer.nodes, 2);
  EXPECT_EQ(answer.processes, 8);
  EXPECT_EQ(answer.gpus, 8);
  EXPECT_EQ(answer.collection_seconds, 0.25);
  EXPECT_FALSE(answer.is_json);
  ASSERT_EQ(answer.rows.size(), 2u);
  EXPECT_EQ(answer.rows[0].ranks_per_node_least, 6);
  EXPECT_EQ(answer.rows[0].ranks_per_node_most, 8);
  EXPECT_EQ(answer.rows[0].size, 16);
  EXPECT_EQ(answer.rows[0].ranks, 14);
  EXPECT_TRUE(answer.rows[0].incomplete && answer.rows[0].error && answer.rows[0].mismatch);
  EXPECT_EQ(answer.rows[0].line, 16u);
  EXPECT_EQ(answer.rows[1].group, 1);
  EXPECT_EQ(answer.rows[1].communicators, 8);
  EXPECT_EQ(answer.rows[1].status, RasStatus::kFinalize);
  EXPECT_FALSE(answer.rows[1].incomplete || answer.rows[1].error || answer.rows[1].mismatch);
}

TEST(RasText, UnevenJobs) {
  const RasAnswer answer = one_answer(recorded("v2.30.7-1/uneven-nodes-6.txt"));
  EXPECT_EQ(answer.nodes, 2);
  EXPECT_EQ(answer.processes, 6);
  EXPECT_EQ(answer.gpus, 6);
  const RasAnswer uneven_gpus = one_answer(
      "NCCL version 2.30.7 compiled with CUDA 12.8\nCUDA runtime version 12080, driver version 12080\n\n"
      "Job summary\n===========\n\n  Nodes  Processes\n          per node\n      1          2\n\n"
      "         Processes         GPUs\n                    per process\n         1            2\n         1 "
      "        "
      "   1\n\n  Nodes  Processes         GPUs\n(total)    (total)      (total)\n      1          2          "
      "  3\n\n"
      "Communicators... (0.001s)\n=============\n\nNo communicator data collected!\n\nErrors\n======\n\n"
      "Warnings\n========\n\n");
  EXPECT_EQ(uneven_gpus.nodes, 1);
  EXPECT_EQ(uneven_gpus.processes, 2);
  EXPECT_EQ(uneven_gpus.gpus, 3);
  EXPECT_TRUE(uneven_gpus.complete);
}

TEST(RasText, NoCommunicators) {
  const Evidence evidence = read_evidence("x", recorded("v2.24.3-1/no-comms-4.txt"));
  EXPECT_EQ(problem_codes(evidence), "");
  ASSERT_EQ(evidence.ras_answers.size(), 1u);
  EXPECT_TRUE(evidence.ras_answers[0].complete);
  EXPECT_TRUE(evidence.ras_answers[0].rows.empty());
}

TEST(RasText, ANamedOutlierTellsOfAllRanks) {
  const RasCommunicator communicator =
      one_communicator(report(kRow8Mismatch, "",
                              "#0-0 (b79ec9689dde9dc4) MISMATCH\n"
                              "  Communicator ranks have different AllReduce operation counts\n"
                              "  7 ranks have launched up to operation 100\n"
                              "  Rank 5 has launched up to operation 99 -- GPU 1 (NVML 3) managed by process "
                              "77 on node 10.0.0.2\n\n"));
  EXPECT_EQ(communicator.hash, 0xb79ec9689dde9dc4u);
  EXPECT_EQ(communicator.size, 8);
  EXPECT_TRUE(communicator.mismatch);
  EXPECT_FALSE(communicator.incomplete || communicator.error);
  EXPECT_EQ(counts(communicator, RasCollective::kAllReduce), "100 100 100 100 100 99 100 100");
  EXPECT_EQ(counts(communicator, RasCollective::kReduce), "- - - - - - - -");
  EXPECT_EQ(statuses(communicator), "RUNNING RUNNING RUNNING RUNNING RUNNING RUNNING RUNNING RUNNING");
  EXPECT_EQ(communicator.ranks[5].pid, 77);
  EXPECT_EQ(communicator.ranks[5].host, "10.0.0.2");
  EXPECT_EQ(communicator.ranks[5].cuda_device, 1);
  EXPECT_EQ(communicator.ranks[5].nvml_device, 3);
  EXPECT_EQ(communicator.ranks[4].pid, -1);
  ASSERT_EQ(communicator.shares.size(), 2u);
  EXPECT_EQ(communicator.shares[0].ranks, 7u);
  EXPECT_TRUE(communicator.shares[0].named.empty());
  EXPECT_EQ(communicator.shares[1].named, std::vector<std::int32_t>{5});
}

TEST(RasText, GroupsWithoutNamesStayGroups) {
  const RasCommunicator communicator = one_communicator(
      report(kRow8Mismatch, "",
             "#0-0 (b79ec9689dde9dc4) MISMATCH\n"
             "  Communicator ranks have different AllReduce operation counts\n"
             "  4 ranks have launched up to operation 100\n"
             "  3 ranks have not launched any operations\n"
             "  Rank 5 has launched up to operation 18446744073709551615 -- GPU 1 managed by "
             "process 77 on node fe80::1\n\n"));
  EXPECT_EQ(counts(communicator, RasCollective::kAllReduce), "- - - - - 18446744073709551615 - -");
  ASSERT_EQ(communicator.shares.size(), 3u);
  EXPECT_EQ(communicator.shares[1].count, 0u);
  EXPECT_EQ(communicator.shares[1].ranks, 3u);
}

// 6 of 8 are told of: the seventh may be anywhere.
TEST(RasText, GroupsThatDoNotAddUpProveNothing) {
  const RasCommunicator communicator = one_communicator(
      report(kRow8Mismatch, "",
             "#0-0 (b79ec9689dde9dc4) MISMATCH\n"
             "  Communicator ranks have different AllReduce operation counts\n"
             "  6 ranks have launched up to operation 100\n"
             "  Rank 5 has launched up to operation 99 -- GPU 1 managed by process 77 on node 10.0.0.2\n\n"));
  EXPECT_EQ(counts(communicator, RasCollective::kAllReduce), "- - - - - 99 - -");
}

TEST(RasText, TwoCollectivesOneOfThemNotKnown) {
  const Evidence evidence = read_evidence(
      "x",
      report(kRow8Mismatch, "",
             "#0-0 (b79ec9689dde9dc4) MISMATCH\n"
             "  Communicator ranks have different AllGather operation counts\n"
             "  7 ranks have not launched any operations\n"
             "  Rank 3 has launched up to operation 1 -- GPU 3 managed by process 7 on node 10.0.0.1\n\n"
             "  Communicator ranks have different AllToAll operation counts\n"
             "  7 ranks have launched up to operation 5\n"
             "  Rank 3 has not launched any operations -- GPU 3 managed by process 7 on node 10.0.0.1\n\n"));
  EXPECT_EQ(problem_codes(evidence), "unknown_collective");
  const RasCommunicator& communicator = evidence.ras_answers.at(0).communicators.at(0);
  EXPECT_EQ(counts(communicator, RasCollective::kAllGather), "0 0 0 1 0 0 0 0");
  EXPECT_EQ(communicator.shares.size(), 2u);
}

TEST(RasText, OneCounterOfOldReleases) {
  const RasCommunicator communicator = one_communicator(recorded("v2.24.3-1/lag-one-8.txt"));
  EXPECT_EQ(counts(communicator, RasCollective::kAny), "100 100 100 100 100 99 100 100");
  EXPECT_EQ(counts(communicator, RasCollective::kAllReduce), "- - - - - - - -");
}

TEST(RasText, ListsOfUnknownRanksOfOldReleases) {
  const RasCommunicator communicator = one_communicator(recorded("v2.24.3-1/fini-many-16.verbose.txt"));
  ASSERT_EQ(communicator.ranks.size(), 16u);
  for (const model::RasRank& rank : communicator.ranks) {
    const bool absent = rank.rank >= 4 && rank.rank <= 7;
    EXPECT_EQ(rank.presence, absent ? RasPresence::kNoCommunicator : RasPresence::kAnswered) << rank.rank;
    EXPECT_EQ(rank.status, absent ? RasStatus::kNoCommunicator : RasStatus::kRunning) << rank.rank;
  }
}

TEST(RasText, ListsOfMissingRanksOfOldReleases) {
  const RasAnswer answer = one_answer(recorded("v2.24.3-1/exit-8@80s.txt"));
  EXPECT_EQ(answer.dead_processes, 1u);
  ASSERT_EQ(answer.lost_processes.size(), 1u);
  EXPECT_TRUE(answer.lost_processes[0].dead);
  EXPECT_EQ(answer.lost_processes[0].cuda_devices, std::vector<std::int32_t>{1});
  ASSERT_EQ(answer.communicators.size(), 1u);
  const RasCommunicator& communicator = answer.communicators[0];
  EXPECT_TRUE(communicator.incomplete);
  EXPECT_EQ(communicator.missing_ranks, 1u);
  ASSERT_EQ(communicator.ranks.size(), 8u);
  // These releases do not say whose rank it is.
  EXPECT_EQ(communicator.ranks[5].presence, RasPresence::kMissing);
  EXPECT_EQ(communicator.ranks[4].presence, RasPresence::kAnswered);
}

TEST(RasText, StatusesWithoutBlankLinesBetweenBlocks) {
  const RasAnswer answer = one_answer(recorded("v2.30.7-1/one-comm-only-status-then-next.txt"));
  ASSERT_EQ(answer.communicators.size(), 2u);
  EXPECT_EQ(answer.communicators[0].hash, 0x0634a4b09acc8e46u);
  for (const RasCommunicator& communicator : answer.communicators) {
    EXPECT_EQ(statuses(communicator), "RUNNING FINALIZE RUNNING RUNNING");
    EXPECT_EQ(communicator.text_group, 1);
  }
  EXPECT_EQ(answer.communicators[1].text_index, 1);
}

TEST(RasText, NamesBelowACount) {
  const RasCommunicator communicator = one_communicator(recorded("v2.30.7-1/lag-eleven-16.verbose.txt"));
  EXPECT_EQ(counts(communicator, RasCollective::kAllReduce),
            "100 100 100 100 100 100 100 100 100 100 100 99 99 99 99 99");
  EXPECT_EQ(communicator.shares.at(1).named, (std::vector<std::int32_t>{11, 12, 13, 14, 15}));
  EXPECT_EQ(communicator.ranks[11].pid, 24081);
}

TEST(RasText, SilentAndDeadProcessesAndTheirRanks) {
  const RasAnswer answer = one_answer(report(
      "    0         1         2       2-4         8         5   RUNNING  INCOMPLETE,MISMATCH\n",
      "INCOMPLETE\n  Missing communicator data from 1 job process\n"
      "  Process 11 on node 10.0.0.1 managing GPUs 1,2 (NVML 5,6)\n\n"
      "DEAD\n  1 job process is considered dead (unreachable via the RAS network)\n"
      "  Process 12 on node 10.0.0.2 managing GPU 0\n\n"
      "#0-0 (00000000000000ab) INCOMPLETE\n  Missing communicator data from 3 ranks\n"
      "  Rank 1 -- GPU 1 (NVML 5) managed by process 11 on node 10.0.0.1\n"
      "  Rank 2 -- GPU 2 (NVML 6) managed by process 11 on node 10.0.0.1\n"
      "  Rank 4 -- GPU 0 managed by process 12 on node 10.0.0.2\n\n",
      "TIMEOUT\n  Encountered 2 communication timeouts while gathering communicator data\n\n"
      "#0-0 (00000000000000ab) MISMATCH\n  Communicator ranks have different Broadcast operation counts\n"
      "  4 ranks have launched up to operation 9\n"
      "  Rank 7 has launched up to operation 8 -- GPU 3 managed by process 15 on node 10.0.0.2\n\n"));
  EXPECT_EQ(answer.timeouts, 2u);
  EXPECT_EQ(answer.silent_processes, 1u);
  EXPECT_EQ(answer.dead_processes, 1u);
  ASSERT_EQ(answer.lost_processes.size(), 2u);
  EXPECT_EQ(answer.lost_processes[0].cuda_devices, (std::vector<std::int32_t>{1, 2}));
  EXPECT_EQ(answer.lost_processes[0].nvml_devices, (std::vector<std::int32_t>{5, 6}));
  ASSERT_EQ(answer.communicators.size(), 1u);
  const RasCommunicator& communicator = answer.communicators[0];
  EXPECT_EQ(communicator.hash, 0xabu);
  EXPECT_TRUE(communicator.incomplete && communicator.mismatch);
  ASSERT_EQ(communicator.ranks.size(), 8u);
  EXPECT_EQ(communicator.ranks[1].presence, RasPresence::kUnresponsive);
  EXPECT_EQ(communicator.ranks[2].nvml_device, 6);
  EXPECT_EQ(communicator.ranks[4].presence, RasPresence::kDead);
  EXPECT_EQ(counts(communicator, RasCollective::kBroadcast), "9 - - 9 - 9 9 8");
  EXPECT_EQ(statuses(communicator), "RUNNING unknown unknown RUNNING unknown RUNNING RUNNING RUNNING");
}

// More than ten are only counted: then it is not known who has answered.
TEST(RasText, MissingRanksWithoutNames) {
  const RasCommunicator communicator = one_communicator(
      report("    0         1         1         4        16         4   RUNNING  INCOMPLETE\n",
             "INCOMPLETE\n  Missing communicator data from 12 job processes\n\n"
             "#0-0 (b79ec9689dde9dc4) INCOMPLETE\n  Missing communicator data from 12 ranks\n\n",
             ""));
  EXPECT_EQ(communicator.missing_ranks, 12u);
  EXPECT_TRUE(communicator.ranks.empty());
  EXPECT_EQ(communicator.size, 16);
}

TEST(RasText, ErrorsWithAndWithoutNames) {
  const RasCommunicator communicator = one_communicator(
      report("    0         1         2         4         8         8      INIT   ERROR\n",
             "#0-0 (b79ec9689dde9dc4) ERROR\n"
             "  Initialization errors on 2 ranks\n"
             "  Rank 4 reported System error -- GPU 0 managed by process 24256 on node 127.0.1.2\n"
             "  Rank 5 reported Invalid usage -- GPU 1 managed by process 24257 on node 127.0.1.2\n"
             "  Asynchronous errors on 3 ranks\n"
             "  2 ranks reported Remote process error\n"
             "  Rank 6 -- GPU 2 managed by process 24258 on node 127.0.1.2\n"
             "  Rank 7 -- [process information not found]\n\n",
             ""));
  EXPECT_TRUE(communicator.error);
  ASSERT_EQ(communicator.ranks.size(), 8u);
  EXPECT_EQ(communicator.ranks[4].init_state, NcclResult::kSystem);
  EXPECT_EQ(communicator.ranks[5].init_state, NcclResult::kInvalidUsage);
  EXPECT_EQ(communicator.ranks[6].async_error, NcclResult::kRemote);
  EXPECT_EQ(communicator.ranks[7].async_error, NcclResult::kRemote);
  EXPECT_EQ(communicator.ranks[7].pid, -1);
  EXPECT_EQ(communicator.ranks[0].async_error, std::nullopt);
  EXPECT_EQ(statuses(communicator), "INIT INIT INIT INIT INIT INIT INIT INIT");
  ASSERT_EQ(communicator.error_shares.size(), 3u);
  EXPECT_TRUE(communicator.error_shares[0].initialization);
  EXPECT_EQ(communicator.error_shares[2].ranks, 2u);
}

TEST(RasText, ManyErrorsWithoutNames) {
  const RasCommunicator communicator = one_communicator(recorded("v2.30.7-1/async-13-of-16.txt"));
  ASSERT_EQ(communicator.error_shares.size(), 1u);
  EXPECT_EQ(communicator.error_shares[0].ranks, 13u);
  EXPECT_EQ(communicator.error_shares[0].result, NcclResult::kRemote);
  EXPECT_FALSE(communicator.error_shares[0].initialization);
}

TEST(RasText, LinesOfLaterReleasesAreReadOver) {
  const Evidence evidence = read_evidence(
      "x", report(kRow8Mismatch, "STALLED\n  3 processes are stalled\n\n",
                  "#0-0 (b79ec9689dde9dc4) MISMATCH\n"
                  "  Communicator ranks have different AllReduce operation counts\n"
                  "  7 ranks have launched up to operation 100\n"
                  "  Rank 5 has launched up to operation 99 -- GPU 1 managed by process 7 on node 10.0.0.2\n"
                  "  Progress of rank 5: 12 %\n\n"));
  ASSERT_EQ(problem_codes(evidence), "unknown_lines");
  EXPECT_EQ(evidence.problems[0].severity, model::Severity::kInfo);
  EXPECT_EQ(evidence.problems[0].text,
            "a line that unhang does not know was read over: STALLED (line 21; 2 more of this kind)");
  const RasAnswer& answer = evidence.ras_answers.at(0);
  EXPECT_TRUE(answer.complete);
  // What they say is not known, so nothing is deduced beside them.
  EXPECT_EQ(counts(answer.communicators.at(0), RasCollective::kAllReduce), "99");
}

TEST(RasText, WindowsLineEndsAndProtocolLines) {
  std::string text =
      "SERVER PROTOCOL 2\nOK\nERROR: Unknown command SET FORMAT json\n" + recorded("v2.24.3-1/lag-one-8.txt");
  for (std::size_t at = 0; (at = text.find('\n', at)) != std::string::npos; at += 2)
    text.replace(at, 1, "\r\n");
  const Evidence evidence = read_evidence("x", text);
  EXPECT_EQ(evidence.kind, "nccl_ras_text");
  ASSERT_EQ(problem_codes(evidence), "refused");
  EXPECT_EQ(evidence.problems[0].text,
            "the service refused a request: ERROR: Unknown command SET FORMAT json (line 3)");
  ASSERT_EQ(evidence.ras_answers.size(), 1u);
  EXPECT_EQ(evidence.ras_answers[0].line, 4u);
  EXPECT_EQ(counts(evidence.ras_answers[0].communicators.at(0), RasCollective::kAny),
            "100 100 100 100 100 99 100 100");
}

}  // namespace
}  // namespace unhang::formats::ras
