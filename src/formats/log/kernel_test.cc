// SPDX-License-Identifier: Apache-2.0
//
// PCIe, IOMMU, memory, tasks and adapters of the kernel's log.
#include <gtest/gtest.h>

#include "formats/log/one_family_for_tests.h"
#include "formats/log/only_event_for_tests.h"

namespace unhang::formats::log {
namespace {

using model::Log;
using model::LogEvent;
using model::LogEventKind;

Log read(std::string_view text) {
  return read_with(kernel_family(), text);
}

TEST(KernelPcie, CorrectedErrorOfTheDeviceBehindThePort) {
  const Log log = read(
      "[ 1.0] pcieport 0000:00:03.0: AER: Corrected error received: 0000:04:00.0\n"
      "[ 1.1] nvidia 0000:04:00.0: PCIe Bus Error: severity=Corrected, type=Physical Layer, (Receiver ID)\n"
      "[ 1.2] nvidia 0000:04:00.0:   device [10de:2330] error status/mask=00000001/0000e000\n");
  EXPECT_EQ(only(log).kind, LogEventKind::kPcieCorrected);
  EXPECT_EQ(only(log).subject, "0000:04:00.0");
  EXPECT_EQ(only(log).count, 1u) << "the layers tell the same error once more";
}

TEST(KernelPcie, OldAndNewKernels) {
  EXPECT_EQ(
      only(read("[ 1.0] pcieport 0000:00:1c.0: AER: Corrected error received: id=00e0\n"
                "[ 1.1] pcieport 0000:00:1c.0: PCIe Bus Error: severity=Corrected, type=Data Link Layer, "
                "id=00e0(Transmitter ID)\n"))
          .subject,
      "0000:00:1c.0");
  EXPECT_EQ(only(read("pcieport 0000:00:1c.4: AER: Correctable error message received from 0000:07:00.0\n"))
                .subject,
            "0000:07:00.0");
}

TEST(KernelPcie, UncorrectedFatalAndNot) {
  const Log log = read(
      "pcieport 0000:00:1d.0: AER: Multiple Uncorrected (Non-Fatal) error received: 0000:3b:00.0\n"
      "pcieport 0000:c0:01.1: PCIe Bus Error: severity=Uncorrectable (Fatal), type=Transaction Layer, "
      "(Requester "
      "ID)\n");
  ASSERT_EQ(log.events.size(), 2u);
  EXPECT_EQ(log.events[0].kind, LogEventKind::kPcieError);
  EXPECT_EQ(log.events[0].code, 0);
  EXPECT_EQ(log.events[0].subject, "0000:3b:00.0");
  EXPECT_EQ(log.events[1].code, 1);
  EXPECT_EQ(log.events[1].subject, "0000:c0:01.1");
}

TEST(KernelPcie, FirmwareReportsAPcieError) {
  const LogEvent event = only(read(
      "{1}[Hardware Error]: event severity: fatal\n{1}[Hardware Error]:   section_type: PCIe error\n"
      "{1}[Hardware Error]:   port_type: 4, root port\n{1}[Hardware Error]:   device_id: 0000:3a:00.0\n"));
  EXPECT_EQ(event.kind, LogEventKind::kPcieError);
  EXPECT_EQ(event.code, 1);
  EXPECT_EQ(event.subject, "0000:3a:00.0");
}

TEST(KernelPcie, HotPlug) {
  const LogEvent event = only(read("pcieport 0000:5c:01.0: pciehp: Slot(12): Link Down\n"));
  EXPECT_EQ(event.kind, LogEventKind::kPcieLinkDown);
  EXPECT_EQ(event.subject, "0000:5c:01.0");
  EXPECT_EQ(only(read("pciehp: Slot(1): Card not present\n")).subject, "Slot(1)");
  EXPECT_TRUE(read("pcieport 0000:5c:01.0: pciehp: Slot(12): Link Up\n"
                   "pcieport 0000:5c:01.0: pciehp: Slot #12 AttnBtn- PwrCtrl- MRL- LLActRep+\n"
                   "acpiphp: Slot [1] registered\npcieport 0000:00:01.0: AER: enabled with IRQ 120\n")
                  .events.empty());
}

TEST(KernelPcie, MemoryErrors) {
  EXPECT_EQ(only(read("[ 9.0] EDAC MC0: 1 UE memory read error on CPU_SrcID#0_MC#0_Chan#0_DIMM#0\n")).kind,
            LogEventKind::kHostMemoryError);
  EXPECT_EQ(
      only(read("mce: [Hardware Error]: CPU 12: Machine Check Exception: 5 Bank 8: be00000000800400\n")).kind,
      LogEventKind::kHostMemoryError);
  EXPECT_TRUE(read("EDAC MC0: 1 CE memory read error on CPU_SrcID#0\nEDAC MC: Ver: 3.0.0\n"
                   "mce: [Hardware Error]: Machine check events logged\n")
                  .events.empty());
}

TEST(KernelIommu, Faults) {
  EXPECT_EQ(
      only(
          read(
              "DMAR: [DMA Write] Request device [61:00.0] fault addr fef00000 [fault reason 05] PTE Write\n"))
          .subject,
      "61:00.0");
  EXPECT_EQ(
      only(read("DMAR: [DMA Read NO_PASID] Request device [0x61:0x00.0] fault addr 0xfef00000\n")).subject,
      "61:00.0");
  EXPECT_EQ(only(read("AMD-Vi: Event logged [IO_PAGE_FAULT device=0000:41:00.0 domain=0x0021 address=0x1]\n"))
                .subject,
            "0000:41:00.0");
  EXPECT_EQ(
      only(read("nvidia 0000:c1:00.0: AMD-Vi: Event logged [IO_PAGE_FAULT domain=0x0021 address=0x1]\n"))
          .subject,
      "0000:c1:00.0");
}

TEST(KernelIommu, EnabledUnlessItPassesThrough) {
  const Log on = read("[ 0.1] DMAR: IOMMU enabled\n[ 0.3] iommu: Default domain type: Translated \n");
  ASSERT_EQ(on.events.size(), 2u);
  EXPECT_EQ(on.events[0].kind, LogEventKind::kIommuEnabled);
  EXPECT_EQ(on.events[0].detail, "DMAR: IOMMU enabled");
  EXPECT_EQ(on.events[0].line, 1u);
  EXPECT_EQ(on.events[0].text, "DMAR: IOMMU enabled");
  EXPECT_TRUE(read("[ 0.1] DMAR: IOMMU enabled\n"
                   "[ 0.3] iommu: Default domain type: Passthrough (set via kernel command line)\n")
                  .events.empty());
  EXPECT_EQ(only(read("[ 0.3] pci 0000:40:00.2: AMD-Vi: Found IOMMU cap 0x40\n")).kind,
            LogEventKind::kIommuEnabled);
}

TEST(KernelIommu, CommandLine) {
  EXPECT_EQ(only(read("[ 0.0] Command line: BOOT_IMAGE=/boot/vmlinuz root=UUID=1 ro intel_iommu=on quiet\n"))
                .detail,
            "kernel command line");
  EXPECT_EQ(only(read("BOOT_IMAGE=/vmlinuz-6.8 root=/dev/sda1 ro amd_iommu=on\n")).kind,
            LogEventKind::kIommuEnabled);
  EXPECT_TRUE(
      read("[ 0.0] Command line: BOOT_IMAGE=/boot/vmlinuz intel_iommu=on iommu=pt\n[ 0.1] DMAR: IOMMU "
           "enabled\n")
          .events.empty());
  EXPECT_TRUE(read("Command line: BOOT_IMAGE=/vmlinuz intel_iommu=off\nplease boot with intel_iommu=on\n")
                  .events.empty());
}

TEST(KernelMemory, OneKillOfFourLinesIsOneEvent) {
  const Log log = read(
      "[ 5.0] python3 invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=998\n"
      "[ 5.1]  mem_cgroup_out_of_memory+0x4b/0x80\n"
      "[ 5.2] oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=a,mems_allowed=0-1,oom_memcg=/kube,"
      "task_memcg=/kube/x,task=pt_main_thread,pid=2343,uid=0\n"
      "[ 5.3] Memory cgroup out of memory: Killed process 2343 (pt_main_thread) total-vm:1kB, anon-rss:1kB\n"
      "[ 5.4] oom_reaper: reaped process 2343 (pt_main_thread), now anon-rss:0kB, file-rss:0kB\n");
  const LogEvent event = only(log);
  EXPECT_EQ(event.kind, LogEventKind::kOutOfMemoryKill);
  EXPECT_EQ(event.subject, "pt_main_thread");
  EXPECT_EQ(event.code, 2343);
  EXPECT_EQ(event.detail, "cgroup");
  EXPECT_EQ(log.recognised, 5u);
}

TEST(KernelMemory, HostMemoryOfOldAndNewKernels) {
  EXPECT_EQ(only(read("Out of memory: Killed process 77 (ray::Worker) total-vm:1kB\n")).detail, "host");
  const Log old = read(
      "Out of memory: Kill process 1234 (python) score 850 or sacrifice child\n"
      "Killed process 1234 (python) total-vm:2345678kB, anon-rss:1234567kB, file-rss:0kB\n");
  EXPECT_EQ(only(old).subject, "python");
  EXPECT_EQ(only(old).detail, "host");
  EXPECT_EQ(
      only(read("oom-kill:constraint=CONSTRAINT_NONE,nodemask=(null),global_oom,task=java,pid=9,uid=1\n"))
          .detail,
      "host");
}

TEST(KernelMemory, CutBeforeTheVictim) {
  const LogEvent event = only(read(
      "[2612362.231458] python invoked oom-killer: gfp_mask=0x14000c0(GFP_KERNEL), order=0, "
      "oom_score_adj=829\n"
      "[2612362.231485]  out_of_memory+0x114/0x4a0\n[2612362.231487]  mem_cgroup_out_of_memory+0x4b/0x80\n"));
  EXPECT_EQ(event.subject, "python");
  EXPECT_EQ(event.code, -1);
  EXPECT_EQ(event.detail, "cgroup");
  EXPECT_EQ(event.line, 1u);
}

TEST(KernelMemory, TwoVictimsAreTwoEvents) {
  EXPECT_EQ(read("Memory cgroup out of memory: Killed process 1 (a) total-vm:1kB\n"
                 "Memory cgroup out of memory: Killed process 2 (b) total-vm:1kB\n")
                .events.size(),
            2u);
}

TEST(KernelMemory, OtherTextsOfMemory) {
  EXPECT_TRUE(read("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2 GiB\n"
                   "watcher: Killed process group\nKilled process abc (x)\nearlyoom: mem avail: 10\n")
                  .events.empty());
}

TEST(KernelTasks, HungTaskAndLockup) {
  const LogEvent hung =
      only(read("[ 999.0] INFO: task nvidia-smi:12345 blocked for more than 120 seconds.\n"));
  EXPECT_EQ(hung.kind, LogEventKind::kHungTask);
  EXPECT_EQ(hung.subject, "nvidia-smi");
  EXPECT_EQ(hung.code, 120);
  const LogEvent lockup =
      only(read("watchdog: BUG: soft lockup - CPU#12 stuck for 23s! [kworker/u8:1:31337]\n"));
  EXPECT_EQ(lockup.subject, "kworker/u8:1");
  EXPECT_EQ(lockup.code, 23);
  EXPECT_TRUE(read("Heartbeat blocked for more than 10 seconds.\nthe queue was blocked for more than a day\n")
                  .events.empty());
}

TEST(KernelNetwork, LinksOfMellanox) {
  const Log log = read(
      "[ 900.0] mlx5_core 0000:ab:00.0 mlx5_5: Port: 1 Link DOWN\n[ 901.0] mlx5_core 0000:ab:00.0 mlx5_5: "
      "Port: 1 "
      "Link INIT\n[ 902.0] mlx5_core 0000:ab:00.0 mlx5_5: Port: 1 Link ACTIVE\n"
      "[ 903.0] mlx5_core 0000:ab:00.0 ens1f0np0: Link down\n");
  ASSERT_EQ(log.events.size(), 3u);
  EXPECT_EQ(log.events[0].kind, LogEventKind::kLinkDown);
  EXPECT_EQ(log.events[0].subject, "mlx5_5");
  EXPECT_EQ(log.events[1].kind, LogEventKind::kLinkUp);
  EXPECT_EQ(log.events[2].subject, "ens1f0np0");
}

TEST(KernelNetwork, LinksOfOthers) {
  const auto subject = [](std::string_view line) { return only(read(line)).subject; };
  EXPECT_EQ(subject("bnxt_en 0000:3b:00.0 ens3f0np0: NIC Link is Down\n"), "ens3f0np0");
  EXPECT_EQ(subject("e1000e: enp0s31f6 NIC Link is Down\n"), "enp0s31f6");
  EXPECT_EQ(subject("bond0: (slave ens1f0): link status definitely down, disabling slave\n"), "ens1f0");
  EXPECT_EQ(subject("bond1: link status definitely down for interface enp95s0f0, disabling it\n"),
            "enp95s0f0");
  EXPECT_EQ(subject("bond0: now running without any active interface!\n"), "bond0");
  EXPECT_EQ(
      only(read("kernel: bond0: (slave eth1): link status definitely up, 40000 Mbps full duplex\n")).kind,
      LogEventKind::kLinkUp);
  EXPECT_EQ(subject("kernel: IPv6: ADDRCONF(NETDEV_CHANGE): ib0: link becomes ready\n"), "ib0");
  EXPECT_EQ(subject("[ 500.0] mlx5_core 0000:0b:00.1: Port module event: module 1, Cable unplugged\n"),
            "0000:0b:00.1");
}

TEST(KernelNetwork, NoLinkOfTheJob) {
  EXPECT_TRUE(read("[ 9.0] mlx5_core 0000:0b:00.1: Port module event: module 1, Cable unplugged\n"
                   "[ 12.0] igb 0000:01:00.0 eno1: NIC Link is Down\n"
                   "[ 800.0] IPv6: ADDRCONF(NETDEV_CHANGE): veth12ab: link becomes ready\n"
                   "ata1: SATA link down (SStatus 0 SControl 300)\nrequests: Link down: retrying https://x\n"
                   "mlx5_core 0000:0b:00.0: Port module event: module 0, Cable plugged\n")
                  .events.empty());
}

TEST(KernelNetwork, Faults) {
  const auto fault = [](std::string_view line) {
    const LogEvent event = only(read(line));
    EXPECT_EQ(event.kind, LogEventKind::kAdapterFault) << line;
    return event.subject;
  };
  EXPECT_EQ(
      fault("mlx5_core 0000:d2:00.0: poll_health:825:(pid 0): device's health compromised - reached miss "
            "count\n"),
      "0000:d2:00.0");
  EXPECT_EQ(fault("mlx5_core 0000:d2:00.0: poll_health:800:(pid 0): Fatal error 3 detected\n"),
            "0000:d2:00.0");
  EXPECT_EQ(
      fault("mlx5_core 0000:d2:00.0: print_health_info:430: Health issue observed, firmware internal error, "
            "severity(3) ERROR:\n"),
      "0000:d2:00.0");
  EXPECT_EQ(fault("NETDEV WATCHDOG: eth0 (mlx5_core): transmit queue 3 timed out\n"), "eth0");
  EXPECT_EQ(fault("infiniband efa_0: Failed to process command ALLOC_PD (opcode 14) comp_status 1 err -12\n"),
            "efa_0");
  EXPECT_EQ(fault("bnxt_en 0000:ca:00.0 eth0: TX timeout detected, starting reset task!\n"), "0000:ca:00.0");
  EXPECT_TRUE(
      read("mlx5_core 0000:d2:00.0: Health issue observed, High temperature, severity(4) WARNING:\n"
           "mlx5_core 0000:d2:00.0: mlx5_cmd_out_err:838:(pid 14): ACCESS_REG(0x805) op_mod(0x1) failed, "
           "status bad operation(0x2), syndrome (0x305684), err(-22)\n"
           "Fatal error in the input file\nmlx5_core 0000:d2:00.0: firmware version: 28.36.1010\n")
          .events.empty());
}

}  // namespace
}  // namespace unhang::formats::log
