// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "formats/log/bandwidth_row.h"
#include "formats/log/one_family_for_tests.h"

namespace unhang::formats::log {
namespace {

using model::BandwidthRun;
using model::Log;
using model::LogEventKind;

constexpr std::string_view kHead =
    "# nccl-tests version 2.17.6 nccl-headers=22900 nccl-library=22900\n"
    "# Collective test starting: all_gather_perf\n"
    "# nThread 1 nGpus 1 minBytes 1024 maxBytes 4096 step: 2(factor) warmup iters: 1 iters: 20 agg iters: 1\n"
    "#\n# Using devices\n"
    "#  Rank  0 Group  0 Pid   4940 on    node-b device  0 [0000:61:00] NVIDIA L40\n"
    "#  Rank  1 Group  0 Pid   4941 on    node-a device  1 [0000:62:00] NVIDIA L40\n"
    "#\n#                                              out-of-place            in-place\n"
    "#       size         count      type   redop    root     time   algbw   busbw  #wrong     time   algbw  "
    " busbw  "
    "#wrong\n"
    "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)             (us)  (GB/s)  "
    "(GB/s)\n";

std::vector<BandwidthRun> runs(std::string_view text) {
  return read_with(bandwidth_family(), text).bandwidth_runs;
}

BandwidthRun only(std::string_view text) {
  const auto all = runs(text);
  EXPECT_EQ(all.size(), 1u);
  return all.empty() ? BandwidthRun{} : all.front();
}

TEST(Bandwidth, WholeRun) {
  const BandwidthRun run = only(std::string(kHead) +
                                "        1024           256     float    none      -1    12.50    0.08    "
                                "0.04       0    10094  425.49  839.16    N/A\n"
                                "        2048           512     float    none      -1    13.00    0.16    "
                                "0.08       3  1.2e+06    0.16    0.08      0\n"
                                "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 12.75\n#\n# "
                                "Collective test concluded: all_gather_perf\n");
  EXPECT_EQ(run.test, "all_gather_perf");
  EXPECT_EQ(run.version, "2.17.6");
  EXPECT_EQ(run.ranks, 2);
  EXPECT_EQ(run.hosts, (std::vector<std::string>{"node-a", "node-b"}));
  EXPECT_EQ(run.line, 1u);
  ASSERT_EQ(run.rows.size(), 2u);
  EXPECT_EQ(run.rows[0].bytes, 1024u);
  EXPECT_EQ(run.rows[0].elements, 256u);
  EXPECT_EQ(run.rows[0].datatype, "float");
  EXPECT_EQ(run.rows[0].reduction, "none");
  EXPECT_EQ(run.rows[0].root, -1);
  EXPECT_DOUBLE_EQ(run.rows[0].time_us[0], 12.5);
  EXPECT_DOUBLE_EQ(run.rows[0].time_us[1], 10094);
  EXPECT_DOUBLE_EQ(run.rows[0].algbw[1], 425.49);
  EXPECT_DOUBLE_EQ(run.rows[0].busbw[1], 839.16);
  EXPECT_EQ(run.rows[0].wrong[0], 0);
  EXPECT_EQ(run.rows[0].wrong[1], -1);
  EXPECT_EQ(run.rows[1].wrong[0], 3);
  EXPECT_DOUBLE_EQ(run.rows[1].time_us[1], 1.2e6);
  EXPECT_EQ(run.out_of_bounds, 0);
  EXPECT_DOUBLE_EQ(run.average_busbw, 12.75);
  EXPECT_TRUE(run.concluded);
  EXPECT_FALSE(run.cut_row);
  EXPECT_FALSE(run.without_mpi);
}

TEST(Bandwidth, HangAfterTheHeadAndInARow) {
  const BandwidthRun silent = only(kHead);
  EXPECT_TRUE(silent.rows.empty());
  EXPECT_FALSE(silent.concluded);
  const BandwidthRun cut =
      only(std::string(kHead) + "        1024           256     float    none      -1    12.50\n");
  ASSERT_EQ(cut.rows.size(), 1u);
  EXPECT_TRUE(cut.cut_row);
  EXPECT_DOUBLE_EQ(cut.rows[0].time_us[0], 12.5);
  EXPECT_DOUBLE_EQ(cut.rows[0].busbw[0], -1);
}

TEST(Bandwidth, OldColumns) {
  const BandwidthRun error = only(
      "#       size         count    type   redop     time   algbw   busbw  error     time   algbw   busbw  "
      "error\n"
      "    33554432       8388608   float     sum   1965.1   17.08   32.02  5e-07   1962.7   17.10   32.06  "
      "5e-07\n");
  ASSERT_EQ(error.rows.size(), 1u);
  EXPECT_EQ(error.rows[0].reduction, "sum");
  EXPECT_DOUBLE_EQ(error.rows[0].busbw[1], 32.06);
  EXPECT_EQ(error.rows[0].wrong[0], 0) << "an error within bounds is no wrong value";
  EXPECT_FALSE(error.cut_row);
  const BandwidthRun neither = only(
      "     1048576        131072   float    47.38   11.06   11.06  0e+00    46.84   11.19   11.19  0e+00\n");
  ASSERT_EQ(neither.rows.size(), 1u);
  EXPECT_EQ(neither.rows[0].reduction, "");
  EXPECT_DOUBLE_EQ(neither.rows[0].time_us[0], 47.38);
  EXPECT_FALSE(neither.cut_row);
}

TEST(Bandwidth, RowsAloneAndBetweenOtherLines) {
  const BandwidthRun run = only(
      "           8             2     float     sum      -1     8.49    0.00    0.00      0     8.37    0.00 "
      "   0.00      0\n"
      "host:9822:9937 [1] NCCL INFO Connected all rings\n"
      "          16             4     half     sum       3     8.26    0.00    0.00      0     8.25    0.00  "
      "  0.00      0\n");
  ASSERT_EQ(run.rows.size(), 2u);
  EXPECT_EQ(run.rows[1].root, 3);
  EXPECT_EQ(run.rows[1].datatype, "half");
  EXPECT_FALSE(run.cut_row);
}

TEST(Bandwidth, PerIterationColumnsAndTimeStamps) {
  const BandwidthRun run = only(
      "#       size         count      type   redop    root     time   algbw   busbw  #wrong   i_min   i_max "
      "  i_p99   i_cv%     "
      "time   algbw   busbw  #wrong   i_min   i_max   i_p99   i_cv%\n"
      "        8192          2048     float     sum      -1    35.15    0.23    0.24       0   30.1   40.2   "
      "40.1   3.5    30.33    "
      "0.27    0.28       0   29.0   33.0   33.0   2.0  2026-11-30 06:10:00\n");
  ASSERT_EQ(run.rows.size(), 1u);
  EXPECT_DOUBLE_EQ(run.rows[0].time_us[1], 30.33);
  EXPECT_DOUBLE_EQ(run.rows[0].busbw[1], 0.28);
  EXPECT_FALSE(run.cut_row);
  const auto stamped = bandwidth_row(
      "8192 2048 float sum 0 35.15 0.23 0.24 0 30.33 0.27 0.28 0 2026-11-30 06:10:00", BandwidthColumns{});
  ASSERT_TRUE(stamped);
  EXPECT_EQ(stamped->row.root, 0);
  EXPECT_FALSE(stamped->cut);
}

TEST(Bandwidth, WithoutMpiEveryProcessIsRankZero) {
  const std::string one =
      "# nThread 1 nGpus 1 minBytes 8 maxBytes 8 step: 2(factor) warmup iters: 5 iters: 20 validation: "
      "1\n#\n# Using devices\n";
  const BandwidthRun run =
      only(one + one +
           "#   Rank  0 Pid  100 on node1 device  0 [0x61] A100\n"
           "#   Rank  0 Pid  101 on node2 device  0 [0x61] A100\n"
           "           8             2     float     sum      -1     8.49    0.00    0.00      0     "
           "8.37    0.00    0.00      0\n"
           "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 0\n"
           "           8             2     float     sum      -1     8.49    0.00    0.00      0     "
           "8.37    0.00    0.00      0\n");
  EXPECT_TRUE(run.without_mpi);
  EXPECT_EQ(run.ranks, 1);
  EXPECT_DOUBLE_EQ(run.average_busbw, 0);
}

TEST(Bandwidth, SeveralRunsOfOneFile) {
  const std::string row =
      "        1024           256     float    none      -1    12.50    0.08    0.04       0    12.00  0.1  "
      "0.2    0\n";
  const std::string end = "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 1.0\n";
  const auto all = runs(std::string(kHead) + row + end + std::string(kHead) + "Killed\n\n\n" +
                        std::string(kHead) + row + end);
  ASSERT_EQ(all.size(), 3u);
  EXPECT_TRUE(all[0].concluded);
  EXPECT_TRUE(all[1].rows.empty());
  EXPECT_FALSE(all[1].without_mpi);
  EXPECT_TRUE(all[2].concluded);
}

TEST(Bandwidth, TestNamedByItsCommand) {
  EXPECT_EQ(
      only("$ mpirun -np 2 ./build/sendrecv_perf -b 8 -e 8\n# nThread 1 nGpus 1 minBytes 8 maxBytes 8\n")
          .test,
      "sendrecv_perf");
}

TEST(Bandwidth, Failures) {
  const Log log = read_with(
      bandwidth_family(),
      "node1: Test CUDA failure common.cu:941 'system not yet initialized'\n"
      " .. node1 pid 77: Test failure common.cu:766\n"
      "node2: Test NCCL failure common.cu:958 'internal error - please report this issue to the NCCL "
      "developers / '\nnode3: Test timeout (30s) common.cu:1\n# Out of bounds values : 12 FAILED\n");
  ASSERT_EQ(log.events.size(), 5u);
  EXPECT_EQ(log.events[0].kind, LogEventKind::kTestFailure);
  EXPECT_EQ(log.events[0].detail, "CUDA: system not yet initialized");
  EXPECT_EQ(log.events[1].kind, LogEventKind::kCudaError);
  EXPECT_EQ(log.events[1].code, 802);
  EXPECT_EQ(log.events[2].detail,
            "NCCL: internal error - please report this issue to the NCCL developers / ");
  EXPECT_EQ(log.events[3].detail, "time-out of 30s");
  EXPECT_EQ(log.events[4].detail, "12 values out of bounds");
  EXPECT_EQ(log.recognised, 5u);
}

TEST(Bandwidth, NumbersThatAreNoRows) {
  const Log log =
      read_with(bandwidth_family(),
                "12 apples float in water\n1024 x float sum\n3 4 float abc def\n2026 1130 floating 1 2\n"
                "loss 0.5 float 3\n# Rank 3 is slow, Pid 4 on it\nrun_perf -v\n");
  EXPECT_TRUE(log.events.empty());
  EXPECT_TRUE(log.bandwidth_runs.empty());
}

TEST(Bandwidth, EndlessRunsKeepTheLatestRow) {
  std::string text(kHead);
  for (int i = 0; i < 3000; ++i) {
    text += "1024 256 float none -1 12.50 0.08 " + std::to_string(i) + " 0 12.0 0.1 0.2 0\n";
  }
  const BandwidthRun run = only(text);
  EXPECT_EQ(run.rows.size(), 1024u);
  EXPECT_DOUBLE_EQ(run.rows.back().busbw[0], 2999);
}

}  // namespace
}  // namespace unhang::formats::log
