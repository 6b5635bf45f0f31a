// SPDX-License-Identifier: Apache-2.0
//
// nvidia-smi, lspci and the reports of network adapters.
#include <gtest/gtest.h>

#include "formats/log/one_family_for_tests.h"

namespace unhang::formats::log {
namespace {

using model::GpuTable;
using model::Log;
using model::LogEvent;
using model::LogEventKind;

Log read(std::string_view text) {
  return read_with(topology_family(), text);
}

std::string field(const GpuTable& gpu, std::string_view name) {
  for (const auto& [key, value] : gpu.fields) {
    if (key == name) return value;
  }
  return "(none)";
}

std::vector<std::string> subjects(const Log& log, LogEventKind kind) {
  std::vector<std::string> out;
  for (const LogEvent* event : events_of(log, kind)) out.push_back(event->subject);
  return out;
}

using Strings = std::vector<std::string>;

constexpr std::string_view kReport =
    "==============NVSMI LOG==============\n\n"
    "Timestamp                                 : Mon Nov 30 06:00:00 2026\n"
    "Driver Version                            : 570.158.01\n"
    "CUDA Version                              : 12.8\n\n"
    "Attached GPUs                             : 2\n"
    "GPU 00000000:1B:00.0\n"
    "    Product Name                          : NVIDIA H100 80GB HBM3\n"
    "    GPU UUID                              : GPU-00000000-0000-0000-0000-000000000001\n"
    "    MIG Mode\n"
    "        Current                           : Disabled\n"
    "        Pending                           : Disabled\n"
    "    GPU Recovery Action                   : Reset\n"
    "    PCI\n"
    "        Bus                               : 0x1B\n"
    "        Bus Id                            : 00000000:1B:00.0\n"
    "        GPU Link Info\n"
    "            PCIe Generation\n"
    "                Max                       : 5\n"
    "                Current                   : 4\n"
    "            Link Width\n"
    "                Max                       : 16x\n"
    "                Current                   : 8x\n"
    "    Clocks Event Reasons\n"
    "        Idle                              : Not Active\n"
    "        SW Power Cap                      : Active\n"
    "        HW Slowdown                       : Active\n"
    "            HW Thermal Slowdown           : Not Active\n"
    "    Utilization\n"
    "        Gpu                               : 100 %\n"
    "        Memory                            : 0 %\n"
    "    GPU Power Readings\n"
    "        Average Power Draw                : 112.35 W\n"
    "        Current Power Limit               : 700.00 W\n"
    "    Fabric\n"
    "        State                             : In Progress\n"
    "        Status                            : N/A\n"
    "GPU 00000000:C3:00.0\n"
    "    Product Name                          : NVIDIA H100 80GB HBM3\n"
    "    Fabric\n"
    "        State                             : Completed\n"
    "        Status                            : Success\n"
    "some other program says x : y\n";

TEST(GpuReport, FieldsUnderTheirColumnsNames) {
  const Log log = read(kReport);
  ASSERT_EQ(log.gpus.size(), 2u);
  const GpuTable& gpu = log.gpus[0];
  EXPECT_EQ(field(gpu, "pci.bus_id"), "00000000:1B:00.0");
  EXPECT_EQ(field(gpu, "name"), "NVIDIA H100 80GB HBM3");
  EXPECT_EQ(field(gpu, "mig.mode.current"), "Disabled");
  EXPECT_EQ(field(gpu, "pcie.link.gen.current"), "4");
  EXPECT_EQ(field(gpu, "pcie.link.gen.max"), "5");
  EXPECT_EQ(field(gpu, "pcie.link.width.current"), "8x");
  EXPECT_EQ(field(gpu, "driver_version"), "570.158.01");
  EXPECT_EQ(field(gpu, "fabric.state"), "In Progress");
  EXPECT_EQ(gpu.line, 8u);
  EXPECT_EQ(field(log.gpus[1], "pci.bus_id"), "00000000:C3:00.0");
}

TEST(GpuReport, WhatIsWrongWithAGpu) {
  const Log log = read(kReport);
  EXPECT_EQ(subjects(log, LogEventKind::kFabricManagerMissing), Strings{"00000000:1B:00.0"});
  EXPECT_EQ(subjects(log, LogEventKind::kFabricManagerReady), Strings{"00000000:C3:00.0"});
  const auto throttled = events_of(log, LogEventKind::kThrottled);
  ASSERT_EQ(throttled.size(), 1u) << "a power cap is normal life";
  EXPECT_EQ(throttled[0]->detail, "HW Slowdown");
  const auto action = events_of(log, LogEventKind::kRecoveryAction);
  ASSERT_EQ(action.size(), 1u);
  EXPECT_EQ(action[0]->code, 1);
  EXPECT_EQ(subjects(log, LogEventKind::kGpuIdleSpin), Strings{"GPU 00000000:1B:00.0"});
}

TEST(GpuReport, WhatGrepLeavesOfIt) {
  EXPECT_EQ(
      read("    Fabric\n        State                             : In Progress\n        Status : N/A\n")
          .events.at(0)
          .kind,
      LogEventKind::kFabricManagerMissing);
  EXPECT_EQ(read("Fabric\nState : In Progress\n").events.size(), 1u);
  EXPECT_TRUE(read("Fabric\n").events.empty());
}

TEST(GpuCsv, WithHeadAndUnits) {
  const Log log = read(
      "index, name, pci.bus_id, utilization.gpu [%], power.draw [W], power.limit [W], memory.total [MiB]\n"
      "0, NVIDIA H100, 00000000:1B:00.0, 100 %, 98.20 W, 700.00 W, 81559 MiB\n"
      "1, NVIDIA H100, 00000000:C3:00.0, 100 %, 650.10 W, 700.00 W, 81559 MiB\n"
      "2, NVIDIA H100, 00000000:D3:00.0, 0 %, 70.10 W, 700.00 W, 81559 MiB\n");
  ASSERT_EQ(log.gpus.size(), 3u);
  EXPECT_EQ(field(log.gpus[0], "power.draw"), "98.20");
  EXPECT_EQ(field(log.gpus[1], "memory.total"), "81559");
  EXPECT_EQ(subjects(log, LogEventKind::kGpuIdleSpin), Strings{"GPU 0"});
}

TEST(GpuCsv, NamesOfTheCommand) {
  const Log log = read(
      "$ nvidia-smi --query-gpu=index,pci.bus_id,driver_version --format=csv,noheader,nounits\n"
      "0, 00000000:1B:00.0, 570.158.01\n1, 00000000:C3:00.0, [Unknown Error]\n");
  ASSERT_EQ(log.gpus.size(), 2u);
  EXPECT_EQ(field(log.gpus[1], "pci.bus_id"), "00000000:C3:00.0");
  EXPECT_TRUE(log.events.empty()) << "one field that cannot be read is no lost GPU";
}

TEST(GpuCsv, WithoutAnyNames) {
  const Log log =
      read("0, NVIDIA H100 80GB HBM3, GPU-00000000-0000-0000-0000-000000000001, 00000000:1B:00.0, 100\n");
  ASSERT_EQ(log.gpus.size(), 1u);
  EXPECT_EQ(field(log.gpus[0], "pci.bus_id"), "00000000:1B:00.0");
  EXPECT_EQ(field(log.gpus[0], "name"), "NVIDIA H100 80GB HBM3");
  EXPECT_TRUE(read("name, memory.total of the job, and more\nthe driver_version, please\n").gpus.empty());
}

TEST(GpuCsv, LostGpu) {
  EXPECT_EQ(subjects(read("index, pci.bus_id, utilization.gpu, power.draw\n"
                          "3, 00000000:5F:00.0, [Unknown Error], [Unknown Error]\n"),
                     LogEventKind::kGpuLost),
            Strings{"00000000:5F:00.0"});
}

constexpr std::string_view kScreen =
    "| NVIDIA-SMI 570.158.01             Driver Version: 570.158.01     CUDA Version: 12.8     |\n"
    "|   0  NVIDIA H100 80GB HBM3          On  |   00000000:1B:00.0 Off |                    0 |\n"
    "| N/A   33C    P0            112W /  700W |   12345MiB /  81559MiB |    100%      Default |\n"
    "|                                         |                        |             Disabled |\n"
    "+-----------------------------------------+------------------------+----------------------+\n"
    "|   1  NVIDIA H100 80GB HBM3          On  |   00000000:C3:00.0 Off |                    0 |\n"
    "| N/A   60C    P0            650W /  700W |   70000MiB /  81559MiB |    100%      Default |\n"
    "|   2  NVIDIA GeForce RTX 3090        Off |   00000000:D3:00.0 Off |                  N/A |\n"
    "|ERR!  ERR! ERR!             N/A / ERR!   |       0MiB /  24576MiB |   ERR!       Default |\n";

TEST(GpuScreen, TableForTheTerminal) {
  const Log log = read(kScreen);
  ASSERT_EQ(log.gpus.size(), 2u);
  EXPECT_EQ(field(log.gpus[0], "index"), "0");
  EXPECT_EQ(field(log.gpus[0], "name"), "NVIDIA H100 80GB HBM3");
  EXPECT_EQ(field(log.gpus[0], "power.limit"), "700");
  EXPECT_EQ(field(log.gpus[0], "memory.used"), "12345");
  EXPECT_EQ(field(log.gpus[0], "driver_version"), "570.158.01");
  EXPECT_EQ(subjects(log, LogEventKind::kGpuIdleSpin), Strings{"GPU 0"});
  EXPECT_EQ(subjects(log, LogEventKind::kGpuLost), Strings{"00000000:D3:00.0"});
}

TEST(NvidiaSmi, DoesNotGetThrough) {
  EXPECT_EQ(read("Failed to initialize NVML: Driver/library version mismatch\n").events.at(0).kind,
            LogEventKind::kDriverMismatch);
  EXPECT_EQ(read("Failed to initialize NVML: Unknown Error\n").events.at(0).kind,
            LogEventKind::kDeviceUnavailable);
  EXPECT_EQ(read("NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.\n")
                .events.at(0)
                .kind,
            LogEventKind::kDeviceUnavailable);
}

TEST(Nvlink, InactiveLinks) {
  const Log log = read(
      "GPU 0: NVIDIA H100 (UUID: GPU-1)\n\t Link 0: 26.562 GB/s\n\t Link 3: <inactive>\nGPU 1: NVIDIA H100 "
      "(UUID: "
      "GPU-2)\n\t Link 3: <inactive>\n");
  EXPECT_EQ(subjects(log, LogEventKind::kNvlinkInactive), (Strings{"GPU 0 link 3", "GPU 1 link 3"}));
  EXPECT_EQ(subjects(read("Link 1: <inactive>\n"), LogEventKind::kNvlinkInactive), Strings{"link 1"});
}

TEST(AccessControl, RedirectingBridges) {
  const Log log = read(
      "0000:40:01.1 PCI bridge: Advanced Micro Devices, Inc. [AMD] Starship/Matisse GPP Bridge\n"
      "\tCapabilities: [2a0 v1] Access Control Services\n"
      "\t\tACSCap:\tSrcValid+ TransBlk+ ReqRedir+ CmpltRedir+ UpstreamFwd+ EgressCtrl- DirectTrans+\n"
      "\t\tACSCtl:\tSrcValid+ TransBlk- ReqRedir+ CmpltRedir+ UpstreamFwd+ EgressCtrl- DirectTrans-\n"
      "0000:41:00.0 3D controller: NVIDIA Corporation Device 2330\n"
      "\t\tACSCtl:\tSrcValid+ TransBlk- ReqRedir+ CmpltRedir+ UpstreamFwd+ EgressCtrl- DirectTrans-\n"
      "60:03.1 PCI bridge: PLX Technology, Inc. PEX 8796\n"
      "\t\tACSCtl:\tSrcValid+ TransBlk- ReqRedir- CmpltRedir- UpstreamFwd- EgressCtrl- DirectTrans-\n");
  EXPECT_EQ(subjects(log, LogEventKind::kAcsEnabled), Strings{"0000:40:01.1"});
}

TEST(AccessControl, WithoutTheBridgeAndInHexadecimal) {
  const Log log = read("ACSCtl:\tSrcValid+ TransBlk- ReqRedir+ CmpltRedir+ UpstreamFwd+\nACSCtl: 0x001d\n");
  ASSERT_EQ(log.events.size(), 1u);
  EXPECT_EQ(log.events[0].count, 2u);
  EXPECT_EQ(subjects(read("0000:41:00.0 (cap 0d @2a0) @2a6 = 001d\n"), LogEventKind::kAcsEnabled),
            Strings{"0000:41:00.0"});
  EXPECT_TRUE(read("ACSCtl: 0x0001\nACSCtl: SrcValid+ TransBlk-\n0000:41:00.0 (cap 0d @2a0) @2a6 = 0000\n"
                   "ACSCap: SrcValid+ ReqRedir+\n")
                  .events.empty());
}

TEST(Adapters, Gids) {
  const Log log = read(
      "DEV\tPORT\tINDEX\tGID\t\t\t\t\tIPv4  \t\tVER\tDEV\n---\t----\t-----\t---\t\t\t\t\t------------  "
      "\t---\t---\n"
      "mlx5_0\t1\t0\tfe80:0000:0000:0000:0e42:a1ff:fe4b:1234\t\t\tv1\tens1\n"
      "mlx5_0\t1\t3\t0000:0000:0000:0000:0000:ffff:0a00:0001\t10.0.0.1  \tv2\tens1\nn_gids_found=2\n");
  const auto gids = events_of(log, LogEventKind::kGidTable);
  ASSERT_EQ(gids.size(), 2u);
  EXPECT_EQ(gids[0]->code, 0);
  EXPECT_EQ(gids[0]->subject, "RoCE v1");
  EXPECT_EQ(gids[1]->code, 3);
  EXPECT_EQ(gids[1]->subject, "RoCE v2");
  EXPECT_EQ(gids[1]->peer, "mlx5_0");
  EXPECT_EQ(gids[1]->detail, "0000:0000:0000:0000:0000:ffff:0a00:0001");
  const Log info = read(
      "hca_id:\tmlx5_2\n\t\t\tGID[  3]:\t\t::ffff:10.0.0.1, RoCE v2\n\t\t\tGID[  "
      "0]:\t\tfe80:0:0:0:1:2:3:4\n");
  const auto more = events_of(info, LogEventKind::kGidTable);
  ASSERT_EQ(more.size(), 2u);
  EXPECT_EQ(more[0]->detail, "::ffff:10.0.0.1");
  EXPECT_EQ(more[0]->subject, "RoCE v2");
  EXPECT_EQ(more[1]->peer, "mlx5_2");
}

TEST(Adapters, PortsThatAreDown) {
  const auto down = [](std::string_view text) { return subjects(read(text), LogEventKind::kLinkDown); };
  EXPECT_EQ(down("hca_id:\tmlx5_0\n\t\t\tstate:\t\t\tPORT_DOWN "
                 "(1)\nhca_id:\tmlx5_1\n\t\t\tstate:\t\t\tPORT_ACTIVE (4)\n"),
            Strings{"mlx5_0"});
  EXPECT_EQ(down("CA 'mlx5_3'\n\tCA type: MT4129\n\tPort 1:\n\t\tState: Down\n\t\tPhysical state: Polling\n"),
            Strings{"mlx5_3"});
  EXPECT_EQ(
      down("Infiniband device 'mlx5_4' port 1 status:\n\tstate:\t\t 1: DOWN\n\tphys state:\t 3: Disabled\n"),
      Strings{"mlx5_4"});
  EXPECT_EQ(down("mlx5_0 port 1 ==> ens1f0np0 (Down)\nmlx5_1 port 1 ==> ens1f1np1 (Up)\n"),
            Strings{"mlx5_0"});
  EXPECT_EQ(down("link mlx5_0/1 state DOWN physical_state DISABLED netdev ens1\n"), Strings{"mlx5_0"});
  EXPECT_EQ(
      down("3: ens1f0np0: <NO-CARRIER,BROADCAST,MULTICAST,UP> mtu 1500 qdisc mq state DOWN mode DEFAULT\n"),
      Strings{"ens1f0np0"});
  EXPECT_EQ(down("ens2f0           DOWN           b8:ce:f6:00:00:01 <NO-CARRIER,BROADCAST,MULTICAST,UP>\n"),
            Strings{"ens2f0"});
}

TEST(Adapters, PortsOfNoMatter) {
  EXPECT_TRUE(
      read("4: docker0: <NO-CARRIER,BROADCAST,MULTICAST,UP> mtu 1500 qdisc noqueue state DOWN mode DEFAULT\n"
           "5: ens1: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 9000 qdisc mq state UP mode DEFAULT\n"
           "worker state DOWN\nCA 'mlx5_3'\n\t\tState: Active\nmap ==> reduce (Down)\n")
          .events.empty());
}

TEST(Limits, SharedMemoryAndLockedMemory) {
  const Log log =
      read("shm              64M     0   64M   0% /dev/shm\nmax locked memory       (kbytes, -l) 64\n");
  ASSERT_EQ(log.events.size(), 2u);
  EXPECT_EQ(log.events[0].kind, LogEventKind::kEnvironment);
  EXPECT_EQ(log.events[0].subject, "/dev/shm");
  EXPECT_EQ(log.events[0].detail, "64M");
  EXPECT_EQ(log.events[1].subject, "ulimit -l");
  EXPECT_EQ(log.events[1].detail, "64");
  EXPECT_EQ(read("shm              64M   64M     0 100% /dev/shm\n").events.at(0).kind,
            LogEventKind::kSharedMemoryFailed);
  EXPECT_TRUE(read("tmpfs           504G   12K  504G   1% /dev/shm\nmax locked memory           (kbytes, -l) "
                   "unlimited\n"
                   "writing to /dev/shm\n")
                  .events.empty());
}

}  // namespace
}  // namespace unhang::formats::log
