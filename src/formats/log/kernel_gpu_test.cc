// SPDX-License-Identifier: Apache-2.0
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

TEST(KernelGpu, XidWithProcess) {
  const LogEvent event =
      only(read("[ 100.5] NVRM: Xid (PCI:0000:17:00): 94, pid=4711, name=python3, Contained: "
                "CE User Channel (0x9). RST: No, D-RST: No\n"));
  EXPECT_EQ(event.kind, LogEventKind::kXid);
  EXPECT_EQ(event.code, 94);
  EXPECT_EQ(event.subject, "0000:17:00");
  EXPECT_EQ(event.detail, "pid=4711, name=python3, Contained: CE User Channel (0x9). RST: No, D-RST: No");
  EXPECT_EQ(event.rank, -1);
  EXPECT_EQ(event.first.ns, 100'500'000'000);
}

TEST(KernelGpu, XidOfEveryAgeAndForm) {
  EXPECT_EQ(only(read("NVRM: Xid (0000:01:00): 31, Ch 00000003, engmask 00000101, intr 10000000\n")).code,
            31);
  EXPECT_EQ(
      only(read("NVRM: Xid (PCI:0000:01:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the "
                "bus.\n"))
          .code,
      79);
  EXPECT_EQ(only(read("kernel: NVRM: Xid (PCI:0000:01:00 GPU-I:05): 94, pid=7194, Contained\n")).subject,
            "0000:01:00");
  const LogEvent elided =
      only(read("kernel: NVRM: Xid (PCI:...): 137, RLW_RXPIPE interrupt hit on link 11\n"));
  EXPECT_EQ(elided.code, 137);
  EXPECT_EQ(elided.subject, "");
  EXPECT_EQ(only(read("NVRM: Xid (PCI:00000000:02:00): 48, GPU\n")).subject, "00000000:02:00");
}

TEST(KernelGpu, PreviousXidIsNoCode) {
  const Log log = read(
      "NVRM: Xid (PCI:0000:dc:00): 45, pid=18, name=python3, Ch 00000001 caused by previous Xid 149\n"
      "NVRM: Xid (PCI:0000:dc:00): 45, pid=18, name=python3, Ch 00000002, caused by previous Xid 149\n");
  const LogEvent event = only(log);
  EXPECT_EQ(event.code, 45);
  EXPECT_EQ(event.peer, "149");
  EXPECT_EQ(event.count, 2u) << "channels alone do not make another event";
}

TEST(KernelGpu, Nvlink5SaysFatalOrNot) {
  const Log log = read(
      "NVRM: Xid (PCI:0018:01:00): 145, RLW_RXPIPE Nonfatal XC0 i0 Link 13 (0x1 0x2 0x3 0x4 0x5 0x6)\n"
      "NVRM: Xid (PCI:0018:01:00): 149, NETIR Fatal XC0 i0 Link -1 (0x1 0x2 0x3 0x4 0x5 0x6)\n"
      "NVRM: Xid (PCI:0000:9b:00): 74, pid=1, name=a, NVLink: fatal error detected on link 10(0x10000, "
      "0x0)\n");
  ASSERT_EQ(log.events.size(), 3u);
  EXPECT_EQ(log.events[0].rank, 0);
  EXPECT_EQ(log.events[1].rank, 1);
  EXPECT_EQ(log.events[2].rank, 1);
}

TEST(KernelGpu, RecoveryActionByNumber) {
  const LogEvent event =
      only(read("NVRM: Xid (PCI:0000:01:00): 154, GPU recovery action changed from 0x0 (None) "
                "to 0x2 (OS Reboot)\n"));
  EXPECT_EQ(event.kind, LogEventKind::kRecoveryAction);
  EXPECT_EQ(event.code, 2);
  EXPECT_EQ(event.subject, "0000:01:00");
  EXPECT_EQ(
      only(read("NVRM: Xid (PCI:0000:01:00): 154, pid=9, name=x, GPU recovery action changed from 0x1 (PF "
                "FLR) to 0x4 (Drain and Reset)\n"))
          .code,
      4);
}

TEST(KernelGpu, TextsAboutXidsAreNone) {
  EXPECT_TRUE(read("NVRM: Xid (PCI:0000:01:00): see the catalogue\nXid (unknown\nXid errors, XID 79\n"
                   "Xid (PCI:0000:01:00): 12345678901234567890, x\n")
                  .events.empty());
}

TEST(KernelGpu, XidOfTheDevicePlugin) {
  const LogEvent event =
      only(read("XidCriticalError: Xid=48 on Device=GPU-1234, the device will go unhealthy\n"));
  EXPECT_EQ(event.code, 48);
  EXPECT_EQ(event.subject, "GPU-1234");
}

TEST(KernelGpu, SxidIsOneEventOfThreeLines) {
  const Log log = read(
      "nvidia-nvswitch3: SXid (PCI:0000:05:00.0): 20034, Data {0x0000002b, 0x0000002b}\n"
      "nvidia-nvswitch3: SXid (PCI:0000:05:00.0): 20034, Fatal, Link 30 LTSSM Fault Up\n"
      "nvidia-nvswitch3: SXid (PCI:0000:05:00.0): 20034, Severity 1 Engine instance 30 Sub-engine instance "
      "00\n"
      "nvidia-nvswitch2: SXid (PCI:0000:04:00.0): 20009, Non-fatal, Link 28 RX Short Error Rate\n");
  ASSERT_EQ(log.events.size(), 2u);
  EXPECT_EQ(log.events[0].kind, LogEventKind::kSxid);
  EXPECT_EQ(log.events[0].code, 20034);
  EXPECT_EQ(log.events[0].rank, 1);
  EXPECT_EQ(log.events[0].subject, "0000:05:00.0");
  EXPECT_EQ(log.events[0].detail, "Link 30 LTSSM Fault Up");
  EXPECT_EQ(log.events[1].rank, 0);
  EXPECT_EQ(log.recognised, 4u);
}

TEST(KernelGpu, FallenOffTheBusOverThreeLines) {
  const Log log = read(
      "[ 43.308145] NVRM: The NVIDIA GPU 0000:b3:00.0\n"
      "[ 43.308146] usb 1-1: something else\n"
      "               NVRM: (PCI ID: 10de:26b5) installed in this system has\n"
      "               NVRM: fallen off the bus and is not responding to commands.\n"
      "[ 43.439662] nvidia: probe of 0000:b3:00.0 failed with error -1\n");
  ASSERT_EQ(log.events.size(), 2u);
  EXPECT_EQ(log.events[0].kind, LogEventKind::kGpuLost);
  EXPECT_EQ(log.events[0].subject, "0000:b3:00.0");
  EXPECT_EQ(log.events[0].line, 1u);
  EXPECT_EQ(log.events[1].kind, LogEventKind::kGpuInitFailed);
}

TEST(KernelGpu, UnsupportedGpuIsNotLost) {
  EXPECT_TRUE(read("NVRM: The NVIDIA GPU 0000:07:00.0 (PCI ID: 10de:0640)\n"
                   "NVRM: installed in this system is not supported by the\n"
                   "NVRM: NVIDIA 570.158.01 driver release.\n")
                  .events.empty());
}

TEST(KernelGpu, LostInOneLine) {
  EXPECT_EQ(only(read("NVRM: GPU 0000:07:00.0: GPU has fallen off the bus.\n")).subject, "0000:07:00.0");
  const LogEvent glued =
      only(read("Unable to determine the device handle for GPU0000:03:00.0: Unknown Error\n"));
  EXPECT_EQ(glued.kind, LogEventKind::kGpuLost);
  EXPECT_EQ(glued.subject, "0000:03:00.0");
  EXPECT_EQ(
      only(read("Unable to determine the device handle for GPU3: 0000:5F:00.0: GPU is lost.  Reboot the "
                "system to recover this GPU\n"))
          .subject,
      "0000:5F:00.0");
  EXPECT_EQ(only(read("Unable to determine the device handle for GPU2: Unknown Error\n")).subject, "GPU2");
}

TEST(KernelGpu, InitialisationFailed) {
  const Log log = read(
      "[ 21.0] NVRM: GPU 0000:01:00.0: RmInitAdapter failed! (0x22:0x56:894)\n"
      "[ 21.1] NVRM: GPU 0000:01:00.0: rm_init_adapter failed, device minor number 0\n");
  EXPECT_EQ(only(log).kind, LogEventKind::kGpuInitFailed);
  EXPECT_EQ(only(log).subject, "0000:01:00.0");
  EXPECT_EQ(only(log).count, 2u);
}

TEST(KernelGpu, NameOfAGpu) {
  const Log log = read("NVRM: GPU at PCI:0000:07:00: GPU-00000000-0000-0000-0000-000000000001\n");
  ASSERT_EQ(log.gpus.size(), 1u);
  EXPECT_EQ(log.gpus[0].fields[0].second, "0000:07:00");
  EXPECT_EQ(log.gpus[0].fields[1].second, "GPU-00000000-0000-0000-0000-000000000001");
  EXPECT_TRUE(log.events.empty());
}

TEST(KernelGpu, VersionsOfDriverAndModule) {
  EXPECT_EQ(only(read("[ 9.1] NVRM: API mismatch: the client has the version 535.247.01, but\n"
                      "       NVRM: this kernel module has the version 535.230.02.  Please\n"
                      "       NVRM: make sure that this kernel module and all NVIDIA driver\n"))
                .detail,
            "client 535.247.01, kernel module 535.230.02");
  const LogEvent one =
      only(read("NVRM: API mismatch: the client 'nvidia-smi' (pid 123) has the version 595.84, but "
                "this kernel module has the version 595.71.05.\n"));
  EXPECT_EQ(one.kind, LogEventKind::kDriverMismatch);
  EXPECT_EQ(one.detail, "client 595.84, kernel module 595.71.05");
  EXPECT_EQ(only(read("NVRM: API mismatch: the client has the version 319.32, but\n")).detail,
            "client 319.32");
}

TEST(KernelGpu, GpuDirectModule) {
  EXPECT_EQ(only(read("nvidia_peermem: Unknown symbol ib_register_peer_memory_client (err -22)\n")).kind,
            LogEventKind::kGpuDirectDisabled);
  EXPECT_EQ(only(read("modprobe: ERROR: could not insert 'nvidia_peermem': Invalid argument\n")).kind,
            LogEventKind::kGpuDirectDisabled);
  // A process that ends: normal.
  EXPECT_TRUE(
      read("nvidia_peermem nv_get_p2p_free_callback:127 ERROR detected invalid context, skipping further "
           "processing\nnvidia_peermem 16384 0\n")
          .events.empty());
}

TEST(KernelGpu, NormalLines) {
  EXPECT_TRUE(
      read("[ 5.1] NVRM: loading NVIDIA UNIX Open Kernel Module for x86_64  570.158.01  Release Build\n"
           "[ 5.2] nvidia-nvlink: Nvlink Core is being initialized, major device number 510\n"
           "[ 5.3] NVRM: GPU1 kbifCacheVFInfo_GB100: Unable to read NV_PF0_INITIAL_AND_TOTAL_VFS\n"
           "CUDA error: uncorrectable ECC error encountered\n")
          .events.empty());
}

}  // namespace
}  // namespace unhang::formats::log
