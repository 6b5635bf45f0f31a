// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "formats/log/one_family_for_tests.h"

namespace unhang::formats::log {
namespace {

using model::Log;
using model::LogEventKind;
using model::TopologyTable;

Log read(std::string_view text) {
  return read_with(topology_family(), text);
}

TopologyTable only(const Log& log) {
  EXPECT_EQ(log.topologies.size(), 1u);
  return log.topologies.empty() ? TopologyTable{} : log.topologies.front();
}

constexpr std::string_view kTabs =
    "\t\x1b[4mGPU0\tGPU1\tNIC0\tNIC1\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\x1b[0m\n"
    "GPU0\t X \tNV12\tPXB\tSYS\t0-31\t0\t\tN/A\n"
    "GPU1\tNV12\t X \tSYS\tPXB\t32-63\t1\t\tN/A\n"
    "NIC0\tPXB\tSYS\t X \tSYS\t\t\t\t\n"
    "NIC1\tSYS\tPXB\tSYS\t X \t\t\t\t\n"
    "\nLegend:\n\n  X    = Self\n  SYS  = Connection traversing PCIe\n\nNIC Legend:\n\n  NIC0: mlx5_0\n  "
    "NIC1: mlx5_bond_1\n";

TEST(Topology, TabsUnderlinesAndLegend) {
  const TopologyTable table = only(read(kTabs));
  EXPECT_EQ(table.names, (std::vector<std::string>{"GPU0", "GPU1", "NIC0", "NIC1"}));
  EXPECT_EQ(table.row_names, table.names);
  EXPECT_EQ(table.cells[0], (std::vector<std::string>{"X", "NV12", "PXB", "SYS"}));
  EXPECT_EQ(table.cells[3], (std::vector<std::string>{"SYS", "PXB", "SYS", "X"}));
  EXPECT_EQ(table.cpu_affinity, (std::vector<std::string>{"0-31", "32-63", "", ""}));
  EXPECT_EQ(table.numa_affinity, (std::vector<std::string>{"0", "1", "", ""}));
  EXPECT_EQ(table.nic_names, (std::vector<std::string>{"mlx5_0", "mlx5_bond_1"}));
  EXPECT_EQ(table.line, 1u);
  EXPECT_FALSE(table.failed);
}

TEST(Topology, BlanksPartialAndShortRows) {
  const TopologyTable table =
      only(read("        [4mGPU0    GPU1    GPU2    CPU Affinity    NUMA Affinity[0m\n"
                "GPU0     X      PHB     NODE    0-13            0-1\n"
                "GPU2    NODE    SYS\n"));
  EXPECT_EQ(table.names.size(), 3u);
  EXPECT_EQ(table.row_names, (std::vector<std::string>{"GPU0", "GPU2"}));
  EXPECT_EQ(table.numa_affinity[0], "0-1");
  EXPECT_EQ(table.cells[1], (std::vector<std::string>{"NODE", "SYS", ""}));
}

TEST(Topology, NamesOfAdaptersInOldDrivers) {
  const TopologyTable table =
      only(read("        GPU0    GPU1    mlx5_0  mlx5_1  CPU Affinity\nGPU0     X      NV6     PIX     SOC   "
                "  0-23,48-71\n"
                "GPU1    NV6      X      PIX     SOC     0-23,48-71\nmlx5_0  PIX     PIX      X      SOC\n"));
  EXPECT_EQ(table.names[3], "mlx5_1");
  EXPECT_EQ(table.cells[0][3], "SOC");
  EXPECT_EQ(table.cpu_affinity[1], "0-23,48-71");
  EXPECT_EQ(table.numa_affinity[1], "");
}

TEST(Topology, WithoutItsHead) {
  const TopologyTable table = only(read("GPU0\t X \tNV18\t0-55\t0\nGPU1\tNV18\t X \t0-55\t0\n"));
  EXPECT_EQ(table.names, (std::vector<std::string>{"GPU0", "GPU1"}));
  EXPECT_EQ(table.cpu_affinity[0], "0-55");
  EXPECT_TRUE(read("GPU0\t X \tNV18\tNV18\n").topologies.empty()) << "whose columns these are is not known";
}

TEST(Topology, Failure) {
  const std::string head = "        GPU0    GPU1    CPU Affinity    NUMA Affinity   GPU NUMA ID\n";
  EXPECT_TRUE(only(read(head + "Failed to run topology matrix\n")).failed);
  EXPECT_TRUE(only(read(head)).failed);
}

TEST(Topology, TextsWithNamesOfGpusAreNoTables) {
  EXPECT_TRUE(
      read("GPU0 GPU1 are connected by NVLink\nGPU0: 80 GB\nusing GPU0 and GPU1\nGPU0 X marks the spot\n"
           "[GPU0] loss 3.5\nGPU0 OK\n")
          .topologies.empty());
}

TEST(Topology, PeerMatricesOneAfterTheOther) {
  const Log log = read(
      "$ nvidia-smi topo -p2p r\n \tGPU0\tGPU1\tGPU2\t\n GPU0\tX\tOK\tCNS\t\n GPU1\tOK\tX\tCNS\t\n "
      "GPU2\tCNS\tCNS\tX\t\n"
      "\nLegend:\n\n  X    = Self\n  OK   = Status Ok\n"
      "$ nvidia-smi topo -p2p n\n \tGPU0\tGPU1\t\n GPU0\tX\tNS\t\n GPU1\tNS\tX\t\n"
      " \tGPU0\tGPU1\t\n GPU0\tX\tGNS\t\n GPU1\tGNS\tX\t\n");
  ASSERT_EQ(log.peer_tables.size(), 3u);
  EXPECT_EQ(log.peer_tables[0].property, "r");
  EXPECT_EQ(log.peer_tables[0].cells[2], (std::vector<std::string>{"CNS", "CNS", "X"}));
  EXPECT_EQ(log.peer_tables[1].property, "n");
  EXPECT_EQ(log.peer_tables[2].property, "");
  EXPECT_TRUE(log.topologies.empty());
  const auto missing = events_of(log, LogEventKind::kPeerAccessMissing);
  ASSERT_EQ(missing.size(), 3u);  // 0,2 and 1,2; 0,1 of the last table; none of NVLink's
  EXPECT_EQ(missing[0]->subject, "0,2");
  const auto ok = events_of(log, LogEventKind::kPeerAccessOk);
  ASSERT_EQ(ok.size(), 1u);
  EXPECT_EQ(ok[0]->subject, "0,1");
}

TEST(Topology, TopologyAndPeersSideBySide) {
  const Log log = read(
      "        GPU0    GPU1    CPU Affinity    NUMA Affinity\nGPU0     X      PHB     0-13            0\n"
      "GPU1    PHB      X      0-13            0\n \tGPU0\tGPU1\t\n GPU0\tX\tOK\t\n GPU1\tOK\tX\t\n");
  EXPECT_EQ(only(log).cells[0][1], "PHB");
  ASSERT_EQ(log.peer_tables.size(), 1u);
  EXPECT_EQ(log.peer_tables[0].cells[0][1], "OK");
}

TEST(Topology, BoundedOnHostileTables) {
  std::string text = "\tGPU0\tGPU1\tCPU Affinity\n";
  for (int i = 0; i < 5000; ++i) text += "GPU" + std::to_string(i) + "\tX\tSYS\t0\n";
  EXPECT_EQ(only(read(text)).cells.size(), 1024u);
  std::string wide = "\t";
  for (int i = 0; i < 5000; ++i) wide += "GPU" + std::to_string(i) + "\t";
  const Log log = read(wide + "\nGPU0\tX\tSYS\n");
  for (const TopologyTable& table : log.topologies) EXPECT_LE(table.names.size(), 1024u);
}

TEST(PeerAccess, TestsOfCuda) {
  const Log log = read(
      "Device=0 CAN Access Peer Device=1\nDevice=0 CANNOT Access Peer Device=2\n"
      "P2P Connectivity Matrix\n     D\\D     0     1     2\n     0\t     1     1     0\n     1\t     1     "
      "1     0\n"
      "     2\t     0     0     1\nUnidirectional P2P=Disabled Bandwidth Matrix (GB/s)\n   D\\D     0      1 "
      "     2\n"
      "     0 900.1   12.2    3.1\n");
  ASSERT_EQ(log.peer_tables.size(), 1u);
  EXPECT_EQ(log.peer_tables[0].property, "access");
  EXPECT_EQ(log.peer_tables[0].line, 3u);
  EXPECT_EQ(log.peer_tables[0].cells[0], (std::vector<std::string>{"X", "OK", "NS"}));
  EXPECT_EQ(events_of(log, LogEventKind::kPeerAccessMissing).at(0)->subject, "0,2");
  EXPECT_EQ(events_of(log, LogEventKind::kPeerAccessOk).at(0)->subject, "0,1");
  const Log simple = read(
      "> Peer access from NVIDIA A100 (GPU0) -> NVIDIA A100 (GPU1) : Yes\n"
      "> Peer access from NVIDIA A100 (GPU1) -> NVIDIA A100 (GPU2) : No\n");
  EXPECT_EQ(events_of(simple, LogEventKind::kPeerAccessOk).size(), 1u);
  EXPECT_EQ(events_of(simple, LogEventKind::kPeerAccessMissing).at(0)->subject, "1,2");
}

}  // namespace
}  // namespace unhang::formats::log
