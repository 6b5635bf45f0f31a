// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "formats/log/told_for_tests.h"

namespace unhang::formats::log {
namespace {

using model::LogEventKind;
using model::WatchdogTimeout;

model::Log read(std::string_view text) {
  return read_with(watchdog_family(), text);
}

constexpr ToldLine kTold[] = {
    {"[PG 3 Rank 6] [PG 3 Rank 6] ProcessGroupNCCL's watchdog got stuck for 600 seconds without making "
     "progress",
     LogEventKind::kWatchdogStuck, 600},
    {"[PG ID 0 PG GUID 0(default_pg) Rank 0] ProcessGroupNCCL's watchdog got stuck for 480 seconds without",
     LogEventKind::kWatchdogStuck, 480},
    {"[PG 2 Rank 1] Heartbeat monitor timed out! Process will be terminated after dumping debug info. "
     "workMetaList_.size()=3",
     LogEventKind::kWatchdogStuck, -1},
    {"Terminating the process after attempting to dump debug info, due to ProcessGroupNCCL watchdog hang.",
     LogEventKind::kWatchdogStuck, -1},
    {"[PG 0 Rank 0] Could not acquire GIL within 300 ms on exit, possible GIL induced hang",
     LogEventKind::kInterpreterLock},
    {"Failed to acquire GIL", LogEventKind::kInterpreterLock},
    {"[PG ID 0 PG GUID 0(default_pg) Rank 4] Received a dump signal due to a collective timeout from  rank 7 "
     "and "
     "we will try our best to dump the debug info. Last enqueued NCCL work: 56116, last completed NCCL work: "
     "56115.This is most likely caused by incorrect usages of collectives",
     LogEventKind::kDumpSignal, 0, 7, "0", "", "enqueued 56116 completed 56115"},
    {"[PG ID 0 PG GUID 0 Rank 1] Observed flight recorder dump signal from another rank via TCPStore.",
     LogEventKind::kDumpSignal, 0, -1, "0"},
    {"[PG 0 Rank 2] Received a global timeout from another rank and will start to dump the debug info. Last "
     "enqueued NCCL work: 42, last completed NCCL work: 42.",
     LogEventKind::kDumpSignal, 0, -1, "0", "", "enqueued 42 completed 42"},
    {"\t - To our best knowledge, ranks [3, 11] are the lagging ranks that caused this timeout. They never "
     "joined "
     "any collectives",
     LogEventKind::kLaggingRanks, 1, -1, "", "", "3,11"},
    {"\t   - [47] joined but didn't finish collective #41207 (count from 1)", LogEventKind::kLaggingRanks, 0,
     -1, "", "", "47"},
    {"\t     [0, 1, 2, 3] finished collective #41207, but didn't join collective #41208 (count from 1)",
     LogEventKind::kLaggingRanks, 0, -1, "", "", "0-3"},
    {"torch.distributed.DistBackendError: NCCL error in: ../torch/csrc/distributed/c10d/NCCLUtils.hpp:275, "
     "unhandled system error (run with NCCL_DEBUG=INFO for details), NCCL version 2.20.5",
     LogEventKind::kNcclError, 2, -1, "", "", "2.20.5"},
    {"RuntimeError: NCCL error: unhandled cuda error (run with NCCL_DEBUG=INFO for details)",
     LogEventKind::kNcclError, 1},
    {"[Rank 12] Collective WorkNCCL(SeqNum=1, OpType=BROADCAST, NumelIn=7, NumelOut=7, Timeout(ms)=1800000) "
     "raised the following async exception: NCCL error: remote process exited or there was a network error, "
     "NCCL "
     "version 2.21.5",
     LogEventKind::kNcclError, 6, -1, "", "", "2.21.5"},
    {"horovod.common.exceptions.HorovodInternalError: ncclAllReduce failed: unhandled cuda error",
     LogEventKind::kNcclError, 1},
    {"RuntimeError: NCCL communicator was aborted on rank 1.", LogEventKind::kNcclError, -1},
    {"ncclRemoteError: A call failed possibly due to a network error or a remote process exiting "
     "prematurely.",
     LogEventKind::kPeerError},
    {"[PG ID 1 PG GUID 1 Rank 0] remote error detected from rank: 5", LogEventKind::kPeerError, 0, 5},
    {"[PG 2 Rank 3] Process group watchdog thread terminated with exception: CUDA error: an illegal memory "
     "access "
     "was encountered",
     LogEventKind::kCudaError, 700, -1, "", "", "an illegal memory access was encountered"},
    {"RuntimeError: CUDA error: uncorrectable NVLink error detected during the execution",
     LogEventKind::kCudaError, 220, -1, "", "", "uncorrectable NVLink error detected during the execution"},
    {"  what():  CUDA error: unspecified launch failure", LogEventKind::kCudaError, 719, -1, "", "",
     "unspecified launch failure"},
    {"RuntimeError: CUDA error: invalid device ordinal", LogEventKind::kCudaError, 101, -1, "", "",
     "invalid device ordinal"},
    {"RuntimeError: CUDA error: something of a later release", LogEventKind::kCudaError, -1, -1, "", "",
     "something of a later release"},
    {"RuntimeError: cuda runtime error (77) : an illegal memory access was encountered at /pytorch/x.cu:1",
     LogEventKind::kCudaError, 700, -1, "", "", "an illegal memory access was encountered"},
    {"  what():  cudaEventSynchronize failed: an illegal memory access was encountered",
     LogEventKind::kCudaError, 700, -1, "", "", "an illegal memory access was encountered"},
    {"  what():  CUDA error: out of memory", LogEventKind::kCudaOutOfMemory, 0, -1, "CUDA error"},
    {"torch.AcceleratorError: CUDA error: all CUDA-capable devices are busy or unavailable",
     LogEventKind::kDeviceUnavailable, 46, -1, "", "", "all CUDA-capable devices are busy or unavailable"},
    {"RuntimeError: Detected mismatch between collectives on ranks. Rank 1 is running collective: "
     "CollectiveFingerPrint(SequenceNumber=5, OpType=BROADCAST, TensorShape=[1]), but Rank 0 is running "
     "collective",
     LogEventKind::kShapeMismatchReport, 0, 1},
    {"RuntimeError: DDP expects same model across all ranks, but Rank 1 has 5 params, while rank 0 has "
     "inconsistent 4 params.",
     LogEventKind::kShapeMismatchReport, 0, 1},
    {"Culprit rank 22; Error type: SIZE_OR_SYNTAX_MISMATCH, Expected input sizes",
     LogEventKind::kShapeMismatchReport, -1, 22},
    {"RuntimeError: Rank 1 failed to pass monitoredBarrier in 2000 ms", LogEventKind::kMonitoredBarrier, 0,
     -1, "", "", "1"},
    {"[Rank 0]: Ranks 1, 2 failed to pass monitoredBarrier in 120000 ms", LogEventKind::kMonitoredBarrier, 0,
     -1, "", "", "1,2"},
    {"(RayWorker pid=2, ip=10.0.0.1) some line that others print too [repeated 6x across cluster]",
     LogEventKind::kLinesCollapsed, 6},
};

TEST(WatchdogFamily, TellsKindsOfAllWordings) {
  EXPECT_EQ(not_told(watchdog_family, kTold), "");
}
TEST(WatchdogFamily, HoldsOnDamagedLines) {
  EXPECT_LE(most_events_of_damaged(watchdog_family, kTold), 8u);
}

TEST(WatchdogFamily, OrdinaryLinesAreQuiet) {
  constexpr std::string_view kLines[] = {
      "[Rank 0] NCCL watchdog thread started!",
      "[PG 0 Rank 0] NCCL Work update periodically: last enqueued NCCL work: 5, last completed NCCL work: 4.",
      "[PG 0 Rank 0] Received a dump signal due to a collective timeout from this local rank and we will try "
      "our "
      "best to dump the debug info. Last enqueued NCCL work: 5, last completed NCCL work: 4.",
      "Dump signal received through pipe, triggering FR dump.",
      "Terminating the process after attempting to dump debug info, due to collective timeout or exception.",
      "Failed to set dump signal in tcpstore. Error: Connection reset by peer",
      "TORCH_NCCL_DUMP_ON_TIMEOUT=1 WorkNCCL",
      "All NCCL errors are shown",
      "host1: Test CUDA failure common.cu:941 'an illegal memory access was encountered'",
      "the ranks passed monitoredBarrier",
      "[repeated twice across cluster]",
      "Received request cmpl-1: prompt: 'why does Watchdog caught collective operation timeout: "
      "WorkNCCL(SeqNum=1, OpType=ALLREDUCE, Timeout(ms)=1) ran for 2 milliseconds happen', params",
  };
  EXPECT_EQ(told_of(watchdog_family, kLines), "");
}

TEST(WatchdogFamily, ReadsAllFieldsOfATimeout) {
  const auto log = read(
      "[Rank 7] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=7753, "
      "OpType=_REDUCE_SCATTER_BASE, "
      "NumelIn=544997376, NumelOut=68124672, Timeout(ms)=600000) ran for 600061 milliseconds before timing "
      "out.\n");
  ASSERT_EQ(log.timeouts.size(), 1u);
  const WatchdogTimeout& timeout = log.timeouts[0];
  EXPECT_EQ(timeout.group_rank, 7);
  EXPECT_EQ(timeout.sequence, 7753);
  EXPECT_EQ(timeout.operation, "_REDUCE_SCATTER_BASE");
  EXPECT_EQ(timeout.elements_in, 544997376);
  EXPECT_EQ(timeout.elements_out, 68124672);
  EXPECT_EQ(timeout.timeout_ms, 600000);
  EXPECT_EQ(timeout.ran_ms, 600061);
  EXPECT_EQ(timeout.last_enqueued, -1);
  EXPECT_FALSE(timeout.cut);
  EXPECT_EQ(timeout.line, 1u);
}

TEST(WatchdogFamily, ReadsOldAndRetypedSpellings) {
  struct Case {
    std::string_view line;
    std::int64_t sequence;
    std::string_view operation;
    std::int64_t in, out, timeout, ran;
  };
  const Case cases[] = {
      {"[Rank 1] Watchdog caught collective operation timeout: WorkNCCL(OpType=ALLREDUCE, TensorShape=[6, "
       "128], "
       "Timeout(ms)=1800000) ran for 1803457 milliseconds before timing out.",
       -1, "ALLREDUCE", -1, 768, 1800000, 1803457},
      {"[Rank 1] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=86645, OpType=ALLREDUCE, "
       "Timeout(ms)=1800000) ran for 1804483 milliseconds before timing out.",
       86645, "ALLREDUCE", -1, -1, 1800000, 1804483},
      {"[Rank 1] **Watchdog caught collective operation timeout:** WorkNCCL(SeqNum = 5, OpType = BROADCAST, "
       "Numel In=1, NumelNumOut=2, Timeout(ms)=10)",
       5, "BROADCAST", 1, 2, 10, -1},
      {"WorkNCCL(..., OpType=ALLREDUCE, NumelIn=1, NumelOut=..., Timeout(ms)=1800000)", -1, "ALLREDUCE", 1,
       -1, 1800000, -1},
  };
  for (const Case& expected : cases) {
    const auto log = read(expected.line);
    ASSERT_EQ(log.timeouts.size(), 1u) << expected.line;
    const WatchdogTimeout& timeout = log.timeouts[0];
    EXPECT_EQ(timeout.sequence, expected.sequence) << expected.line;
    EXPECT_EQ(timeout.operation, expected.operation) << expected.line;
    EXPECT_EQ(timeout.elements_in, expected.in) << expected.line;
    EXPECT_EQ(timeout.elements_out, expected.out) << expected.line;
    EXPECT_EQ(timeout.timeout_ms, expected.timeout) << expected.line;
    EXPECT_EQ(timeout.ran_ms, expected.ran) << expected.line;
    EXPECT_FALSE(timeout.cut) << expected.line;
  }
}

TEST(WatchdogFamily, ACutNumberIsNoNumber) {
  const auto log = read(
      "[Rank 4] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=151721, "
      "OpType=_ALLGATHER_BASE, "
      "NumelIn=8080, NumelOut=1\nsomething else\n");
  ASSERT_EQ(log.timeouts.size(), 1u);
  EXPECT_TRUE(log.timeouts[0].cut);
  EXPECT_EQ(log.timeouts[0].sequence, 151721);
  EXPECT_EQ(log.timeouts[0].elements_in, 8080);
  EXPECT_EQ(log.timeouts[0].elements_out, -1);
  EXPECT_EQ(log.timeouts[0].timeout_ms, -1);
}

TEST(WatchdogFamily, AWrappedLineIsPutTogether) {
  const auto log = read(
      "[Rank 4] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=151721, "
      "OpType=_ALLGATHER_BASE, "
      "NumelIn=8080, NumelOut=1\n29280, Timeout(ms)=600000) ran for 600049 milliseconds before timing "
      "out.\n");
  ASSERT_EQ(log.timeouts.size(), 1u);
  EXPECT_FALSE(log.timeouts[0].cut);
  EXPECT_EQ(log.timeouts[0].elements_out, 129280);
  EXPECT_EQ(log.timeouts[0].ran_ms, 600049);
  EXPECT_EQ(log.timeouts[0].line, 1u);
}

TEST(WatchdogFamily, TheWorkMayStandInTheNextLine) {
  const auto log = read(
      "[Rank 1] Watchdog caught collective operation timeout:\n"
      "WorkNCCL(SeqNum=64214, OpType=ALLGATHER, NumelIn=1, NumelOut=32, Timeout(ms)=600000)\n");
  ASSERT_EQ(log.timeouts.size(), 1u);
  EXPECT_EQ(log.timeouts[0].group_rank, 1);
  EXPECT_EQ(log.timeouts[0].sequence, 64214);
}

constexpr std::string_view kTimeout =
    "[Rank 4] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=610, OpType=ALLREDUCE, "
    "NumelIn=5, "
    "NumelOut=5, Timeout(ms)=600000) ran for 600086 milliseconds before timing out.\n";

TEST(WatchdogFamily, TheStateOfTheGroupJoinsInEitherOrder) {
  const std::string states[] = {
      "[PG ID 2 PG GUID 9(tp) Rank 4] Exception (either an error or timeout) detected by watchdog at work: "
      "610, "
      "last enqueued NCCL work: 616, last completed NCCL work: 609.\n",
      "[PG ID 2 PG GUID 9(tp) Rank 4]  failure detected by watchdog at work sequence id: 610 PG status: last "
      "enqueued work: 616, last completed work: 609\n",
      "[PG ID 2 PG GUID 9(tp) Rank 4] Timeout at NCCL work: 610, last enqueued NCCL work: 616, last "
      "completed NCCL "
      "work: 609.\n"};
  for (const std::string& state : states) {
    for (const std::string& text : {std::string(kTimeout) + state, state + std::string(kTimeout)}) {
      const auto log = read(text);
      ASSERT_EQ(log.timeouts.size(), 1u) << text;
      const WatchdogTimeout& timeout = log.timeouts[0];
      EXPECT_EQ(timeout.operation, "ALLREDUCE");
      EXPECT_EQ(timeout.group_id, "2");
      EXPECT_EQ(timeout.group, "9");
      EXPECT_EQ(timeout.group_description, "tp");
      EXPECT_EQ(timeout.last_enqueued, 616);
      EXPECT_EQ(timeout.last_completed, 609);
    }
  }
}

TEST(WatchdogFamily, AStateAloneIsARecord) {
  const auto log = read(
      "[PG 0 (default_pg) Rank 3] Timeout at NCCL work: 5, last enqueued NCCL work: 5, last completed NCCL "
      "work: "
      "-1.\n");
  ASSERT_EQ(log.timeouts.size(), 1u);
  EXPECT_EQ(log.timeouts[0].group, "0");
  EXPECT_EQ(log.timeouts[0].group_description, "default_pg");
  EXPECT_EQ(log.timeouts[0].operation, "");
  EXPECT_EQ(log.timeouts[0].last_enqueued, 5);
  EXPECT_EQ(log.timeouts[0].last_completed, -1);
}

TEST(WatchdogFamily, RepetitionsAreOneRecord) {
  const std::string sentence(kTimeout);
  const auto log =
      read(sentence +
           "[PG ID 2 PG GUID 9 Rank 4] Process group watchdog thread terminated with exception: " + sentence +
           "  what():  [PG ID 2 PG GUID 9 Rank 4] Process group watchdog thread terminated "
           "with exception: " +
           sentence + "  what():  " + sentence);
  ASSERT_EQ(log.timeouts.size(), 1u);
  EXPECT_EQ(log.timeouts[0].group, "9");
}

TEST(WatchdogFamily, TheRepetitionMayComeFromAnUntaggedLine) {
  model::Log log;
  Facts facts(log);
  const auto family = watchdog_family();
  Line line;
  model::LogOrigin origin;
  origin.global_rank = 12;
  line.origin = facts.origin(origin);
  line.message = kTimeout.substr(0, kTimeout.size() - 1);
  family->take(line, facts);
  const std::string what = "  what():  " + std::string(line.message);
  line.origin = facts.origin({});
  line.message = what;
  family->take(line, facts);
  ASSERT_EQ(log.timeouts.size(), 1u);
  EXPECT_EQ(log.origins[log.timeouts[0].origin].global_rank, 12);
}

TEST(WatchdogFamily, TwoGroupsWithTheSameNumbersStayTwo) {
  const auto log = read(std::string(kTimeout) +
                        "[PG ID 2 PG GUID 9 Rank 4] Timeout at NCCL work: 610, last enqueued NCCL work: 616, "
                        "last completed NCCL work: "
                        "609.\n"
                        "[Rank 4] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=610, "
                        "OpType=ALLREDUCE, NumelIn=5, "
                        "NumelOut=5, Timeout(ms)=600000) ran for 600311 milliseconds before timing out.\n"
                        "[PG ID 3 PG GUID 17 Rank 4] Timeout at NCCL work: 610, last enqueued NCCL work: "
                        "610, last completed NCCL "
                        "work: 609.\n");
  ASSERT_EQ(log.timeouts.size(), 2u);
  EXPECT_EQ(log.timeouts[0].group, "9");
  EXPECT_EQ(log.timeouts[0].last_enqueued, 616);
  EXPECT_EQ(log.timeouts[1].group, "17");
  EXPECT_EQ(log.timeouts[1].last_enqueued, 610);
}

TEST(WatchdogFamily, BlockingWaitAndCollapsedLines) {
  const auto log = read(
      "[Rank 1] Work WorkNCCL(SeqNum=2521, OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=600000) "
      "timed out in "
      "blocking wait. [repeated 7x across cluster]\n");
  ASSERT_EQ(log.timeouts.size(), 1u);
  EXPECT_TRUE(log.timeouts[0].blocking_wait);
  EXPECT_EQ(log.timeouts[0].collapsed, 7);
  EXPECT_EQ(events_of(log, LogEventKind::kBlockingWait).size(), 1u);
  ASSERT_EQ(events_of(log, LogEventKind::kLinesCollapsed).size(), 1u);
  EXPECT_EQ(events_of(log, LogEventKind::kLinesCollapsed)[0]->code, 7);
}

TEST(WatchdogFamily, TheLastErrorOfAnExceptionIsNcclsWarning) {
  const auto log = read(
      "torch.distributed.DistBackendError: NCCL error in: NCCLUtils.hpp:275, invalid usage, NCCL version "
      "2.20.5\n"
      "ncclInvalidUsage: This usually reflects invalid usage of NCCL library.\n"
      "Last error:\n"
      "Duplicate GPU detected : rank 1 and rank 0 both on CUDA device 10\n");
  EXPECT_EQ(events_of(log, LogEventKind::kNcclError).size(), 1u);
  const auto duplicate = events_of(log, LogEventKind::kDuplicateGpu);
  ASSERT_EQ(duplicate.size(), 1u);
  EXPECT_EQ(duplicate[0]->rank, 1);
  EXPECT_EQ(duplicate[0]->code, 0);
}

TEST(WatchdogFamily, ManyAlikeTimeoutsDoNotTakeLong) {
  std::string text;
  for (int i = 0; i < 20000; ++i) {
    text +=
        "[Rank 0] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=1, OpType=A, Timeout(ms)=1) "
        "ran "
        "for " +
        std::to_string(i) + " milliseconds before timing out.\n";
  }
  EXPECT_EQ(read(text).timeouts.size(), 20000u);
}

}  // namespace
}  // namespace unhang::formats::log
