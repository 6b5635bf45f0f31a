// SPDX-License-Identifier: Apache-2.0
//
// The tables of the corpus, where it is there: each with what it holds.
#include <filesystem>
#include <fstream>
#include <iterator>

#include <gtest/gtest.h>

#include "formats/log/one_family_for_tests.h"

namespace unhang::formats::log {
namespace {

using model::BandwidthRun;
using model::Log;
using model::TopologyTable;

class TablesCorpus : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::is_directory(folder())) GTEST_SKIP() << "no corpus here";
  }
  static std::filesystem::path folder() {
    return std::filesystem::path(UNHANG_SOURCE_DIR) / "../shared/corpus/tables";
  }
  static std::string text_of(const std::string& name) {
    std::ifstream in(folder() / name, std::ios::binary);
    EXPECT_TRUE(in) << name;
    return {std::istreambuf_iterator<char>(in), {}};
  }
  static BandwidthRun run(const std::string& name) {
    const Log log = read_with(bandwidth_family(), text_of(name));
    EXPECT_EQ(log.bandwidth_runs.size(), 1u) << name;
    return log.bandwidth_runs.empty() ? BandwidthRun{} : log.bandwidth_runs[0];
  }
  static TopologyTable topology(const std::string& name) {
    const Log log = read_with(topology_family(), text_of(name));
    EXPECT_EQ(log.topologies.size(), 1u) << name;
    EXPECT_TRUE(log.peer_tables.empty()) << name;
    return log.topologies.empty() ? TopologyTable{} : log.topologies[0];
  }
};

TEST_F(TablesCorpus, HeadsOfRuns) {
  const BandwidthRun b200 = run("nccl-tests-b200-2node-head.txt");
  EXPECT_EQ(b200.test, "all_reduce_perf");
  EXPECT_EQ(b200.version, "2.19.6");
  EXPECT_EQ(b200.ranks, 8);
  EXPECT_EQ(b200.hosts, std::vector<std::string>{"node1"});
  EXPECT_TRUE(b200.rows.empty());
  EXPECT_FALSE(b200.concluded);
  const BandwidthRun spark = run("nccl-tests-dgx-spark-v2.20.txt");
  EXPECT_EQ(spark.version, "2.20.0");
  EXPECT_EQ(spark.ranks, 2);
  EXPECT_EQ(spark.hosts, (std::vector<std::string>{"node-a", "node-b"}));
  ASSERT_EQ(spark.rows.size(), 4u);
  EXPECT_DOUBLE_EQ(spark.rows[2].busbw[1], 0.88);
  EXPECT_FALSE(spark.concluded);
  EXPECT_FALSE(spark.cut_row);
}

TEST_F(TablesCorpus, RowsOfEveryAge) {
  const BandwidthRun nvl72 = run("nccl-tests-gb200-nvl72.txt");
  EXPECT_EQ(nvl72.ranks, 72);
  ASSERT_EQ(nvl72.rows.size(), 5u);
  EXPECT_EQ(nvl72.rows[4].bytes, 8589934592u);
  EXPECT_DOUBLE_EQ(nvl72.rows[4].time_us[0], 20299);
  EXPECT_DOUBLE_EQ(nvl72.rows[4].busbw[1], 846.82);
  EXPECT_EQ(nvl72.rows[4].root, -1);
  EXPECT_DOUBLE_EQ(nvl72.average_busbw, 745.53);
  EXPECT_EQ(nvl72.out_of_bounds, 0);
  EXPECT_TRUE(nvl72.concluded);
  const BandwidthRun h20 = run("nccl-tests-h20-2node-no-root-col.txt");
  ASSERT_EQ(h20.rows.size(), 2u);
  EXPECT_EQ(h20.rows[0].reduction, "sum");
  EXPECT_DOUBLE_EQ(h20.rows[0].time_us[0], 47.54);
  EXPECT_DOUBLE_EQ(h20.rows[0].time_us[1], 49.35);
  EXPECT_EQ(h20.rows[0].root, -1);
  const BandwidthRun mixed = run("nccl-tests-interleaved-with-nccl-info.txt");
  ASSERT_EQ(mixed.rows.size(), 2u);
  EXPECT_DOUBLE_EQ(mixed.rows[0].time_us[0], 8.49);
  const BandwidthRun old = run("nccl-tests-old-2080ti-error-col.txt");
  ASSERT_EQ(old.rows.size(), 3u);
  EXPECT_EQ(old.rows[2].bytes, 134217728u);
  EXPECT_DOUBLE_EQ(old.rows[2].busbw[0], 20.34);
  EXPECT_DOUBLE_EQ(old.rows[2].busbw[1], 21.86);
  EXPECT_FALSE(old.cut_row);
  EXPECT_TRUE(old.concluded);
}

TEST_F(TablesCorpus, Topologies) {
  const TopologyTable a800 = topology("topo-a100-8gpu-8nic-spaces-partial.txt");
  EXPECT_EQ(a800.names.size(), 17u);
  EXPECT_EQ(a800.row_names, (std::vector<std::string>{"GPU0", "GPU4"}));
  EXPECT_EQ(a800.cells[0][1], "NV8");
  EXPECT_EQ(a800.cells[1][9], "PIX");
  EXPECT_EQ(a800.cpu_affinity[1], "48-95,144-191");
  EXPECT_EQ(a800.numa_affinity[1], "1");
  const TopologyTable dgx2 = topology("topo-dgx2-mlx5-names-old-driver-partial.txt");
  EXPECT_EQ(dgx2.names[4], "mlx5_0");
  EXPECT_EQ(dgx2.cells[1][5], "PXB");
  EXPECT_EQ(dgx2.numa_affinity[0], "");
  const TopologyTable h100 = topology("topo-hgx-h100-tabs-partial.txt");
  EXPECT_EQ(h100.names.size(), 18u);
  ASSERT_EQ(h100.cells.size(), 3u);
  EXPECT_EQ(h100.cells[1][4], "X");
  EXPECT_EQ(h100.cells[1][14], "PIX");
  EXPECT_EQ(h100.row_names[2], "NIC0");
  EXPECT_EQ(h100.cells[2][8], "X");
  EXPECT_EQ(h100.cpu_affinity[2], "");
  const TopologyTable pcie = topology("topo-pcie-4gpu.txt");
  EXPECT_EQ(pcie.cells[1], (std::vector<std::string>{"SYS", "X", "PIX", "NODE"}));
  EXPECT_EQ(pcie.numa_affinity, (std::vector<std::string>{"0", "1", "1", "1"}));
}

TEST_F(TablesCorpus, PeerAccess) {
  const Log log = read_with(topology_family(), text_of("topo-p2p-rw-2x5090.txt"));
  ASSERT_EQ(log.peer_tables.size(), 1u);
  EXPECT_EQ(log.peer_tables[0].cells[0], (std::vector<std::string>{"X", "GNS"}));
  EXPECT_TRUE(log.topologies.empty());
  const auto missing = events_of(log, model::LogEventKind::kPeerAccessMissing);
  ASSERT_EQ(missing.size(), 1u);
  EXPECT_EQ(missing[0]->subject, "0,1");
}

}  // namespace
}  // namespace unhang::formats::log
