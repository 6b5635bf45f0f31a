// SPDX-License-Identifier: Apache-2.0
//
// GPUs, NVLink, the fabric and GPU memory, as logs tell of them.
#include <gtest/gtest.h>

#include "detect/log_case_for_tests.h"

namespace unhang::detect {
namespace {

using model::LogEventKind;

// A kernel log of node1; `nonfatal` as the Xid states it.
LogCase& xid(LogCase& c, std::int64_t code, std::string gpu = "0000:b3:00", std::int32_t fatal = -1,
             std::string previous = {}) {
  return c.file("node1.dmesg")
      .by({.host = "node1", .label = "kernel"})
      .says(LogEventKind::kXid,
            {.code = code, .rank = fatal, .subject = std::move(gpu), .peer = std::move(previous)});
}

// --- log_device_fault ---

TEST(LogDeviceFault, FallenOffTheBus) {
  LogCase c;
  xid(c, 79);
  EXPECT_EQ(c.told(find_log_device_fault),
            "process_or_device_unavailable/gpu_fallen_off_bus medium: gpu 0000:b3:00 of node1");
  LogCase without_xid;
  without_xid.by({.host = "node1"}).says(LogEventKind::kGpuLost, {.subject = "0000:b3:00"});
  EXPECT_EQ(without_xid.told(find_log_device_fault),
            "process_or_device_unavailable/gpu_fallen_off_bus medium: gpu 0000:b3:00 of node1");
}

TEST(LogDeviceFault, FallenOffTheBusIsToldOnceForAGpuThatSaysItTwice) {
  LogCase c;
  xid(c, 79).says(LogEventKind::kGpuLost, {.subject = "0000:b3:00"});
  c.says(LogEventKind::kPcieError, {.code = 1, .subject = "0000:b2:00.0", .text = "PCIe Bus Error"});
  const auto found = c.run(find_log_device_fault);
  EXPECT_EQ(LogCase::tell(found),
            "process_or_device_unavailable/gpu_fallen_off_bus medium: gpu 0000:b3:00 of node1");
  ASSERT_EQ(found[0].records.size(), 3u);  // the bus error is cited with it
  EXPECT_EQ(found[0].records[2].text, "PCIe Bus Error");
}

TEST(LogDeviceFault, AnElidedAddressNamesNobody) {
  LogCase c;
  xid(c, 79, "...");
  EXPECT_EQ(c.told(find_log_device_fault), "process_or_device_unavailable/gpu_fallen_off_bus medium");
  EXPECT_EQ(c.diagnosed().headline,
            "a GPU of node1 is gone from the PCIe bus: every rank that needs it waits");
}

TEST(LogDeviceFault, NvlinkOfOneGpu) {
  LogCase hopper;
  xid(hopper, 74);
  EXPECT_EQ(hopper.told(find_log_device_fault),
            "transport_stall/nvlink_fault medium: gpu 0000:b3:00 of node1");
  LogCase blackwell;
  xid(blackwell, 145, "0008:01:00", 1);
  EXPECT_EQ(blackwell.told(find_log_device_fault),
            "transport_stall/nvlink_fault medium: gpu 0008:01:00 of node1");
}

// The GPU whose Xid differs from that of the crowd stands out.
TEST(LogDeviceFault, OfManyGpusTheOddOne) {
  LogCase c;
  for (const char* gpu : {"0000:1a:00", "0000:3d:00", "0000:4e:00"}) xid(c, 74, gpu);
  xid(c, 149, "0000:5f:00", 1);
  EXPECT_EQ(c.told(find_log_device_fault), "transport_stall/nvlink_fault medium: gpu 0000:5f:00 of node1");
}

TEST(LogDeviceFault, GpusThatComplainAlikeAreSuspects) {
  LogCase c;
  xid(c, 74, "0000:1a:00");
  xid(c, 74, "0000:3d:00");
  const auto found = c.run(find_log_device_fault);
  EXPECT_EQ(LogCase::tell(found),
            "transport_stall/nvlink_fault medium ? gpu 0000:1a:00 of node1, gpu 0000:3d:00 of node1");
  ASSERT_EQ(found[0].alternatives.size(), 1u);
  EXPECT_EQ(found[0].alternatives[0].cause, "fabric_manager");
}

TEST(LogDeviceFault, FatalSwitchError) {
  LogCase c;
  c.by({.host = "node1"}).says(LogEventKind::kSxid, {.code = 20034, .rank = 1, .subject = "0000:04:00.0"});
  EXPECT_EQ(c.told(find_log_device_fault).substr(0, 35), "transport_stall/nvlink_fault medium");
  LogCase soft;
  soft.by({.host = "node1"}).says(LogEventKind::kSxid, {.code = 22013, .rank = 0, .subject = "0000:04:00.0"});
  EXPECT_EQ(soft.told(find_log_device_fault), "nothing");
}

TEST(LogDeviceFault, OneNonfatalLinkErrorIsANote) {
  LogCase c;
  xid(c, 145, "0000:b3:00", 0);
  EXPECT_EQ(c.told(find_log_device_fault), "nothing");
  c.file("job.log").give_up({0, 1});  // with somebody who waits it is a suspicion
  EXPECT_EQ(c.told(find_log_device_fault),
            "transport_stall/nvlink_fault low ? gpu 0000:b3:00 of node1 (tentative)");
}

TEST(LogDeviceFault, MemoryAndFirmware) {
  for (const std::int64_t code : {48, 62, 64, 94, 95, 109, 119, 120, 140}) {
    LogCase c;
    xid(c, code);
    EXPECT_EQ(c.told(find_log_device_fault),
              "process_or_device_unavailable/gpu_xid medium: gpu 0000:b3:00 of node1")
        << code;
  }
  LogCase ecc;
  ecc.by({.host = "node1"}).says(LogEventKind::kEccError, {.subject = "0000:b3:00"});
  EXPECT_EQ(ecc.told(find_log_device_fault),
            "process_or_device_unavailable/gpu_xid medium: gpu 0000:b3:00 of node1");
  LogCase of_cuda;
  of_cuda.by_rank(4).says(LogEventKind::kCudaError, {.code = 214, .detail = "uncorrectable ECC error"});
  EXPECT_EQ(of_cuda.told(find_log_device_fault), "process_or_device_unavailable/gpu_xid medium: rank 4");
  LogCase init;
  init.by({.host = "node1"}).says(LogEventKind::kGpuInitFailed, {.subject = "0000:b3:00"});
  EXPECT_EQ(init.told(find_log_device_fault),
            "process_or_device_unavailable/gpu_xid medium: gpu 0000:b3:00 of node1");
}

TEST(LogDeviceFault, SeveralFailedGpusAreSuspects) {
  LogCase c;
  xid(c, 48, "0000:1a:00");
  xid(c, 119, "0000:3d:00");
  EXPECT_EQ(
      c.told(find_log_device_fault),
      "process_or_device_unavailable/gpu_xid medium ? gpu 0000:1a:00 of node1, gpu 0000:3d:00 of node1");
}

TEST(LogDeviceFault, ARecoveryActionCountsUnlessItIsNone) {
  for (const std::int64_t action : {0, 1, 2}) {
    LogCase c;
    c.by({.host = "node1"}).says(LogEventKind::kRecoveryAction, {.code = action, .subject = "0000:b3:00"});
    EXPECT_EQ(
        c.told(find_log_device_fault),
        action == 0 ? "nothing" : "process_or_device_unavailable/gpu_xid medium: gpu 0000:b3:00 of node1");
  }
}

TEST(LogDeviceFault, ABusErrorWithoutAWordOfTheDriver) {
  LogCase fatal;
  fatal.by({.host = "node1"}).says(LogEventKind::kPcieError, {.code = 1, .subject = "0000:b2:00.0"});
  EXPECT_EQ(fatal.told(find_log_device_fault),
            "process_or_device_unavailable/gpu_fallen_off_bus low ? gpu 0000:b2:00.0 of node1");
  LogCase gone;
  gone.by({.host = "node1"}).says(LogEventKind::kPcieLinkDown, {.subject = "0000:b2:00.0"});
  EXPECT_EQ(gone.told(find_log_device_fault),
            "process_or_device_unavailable/gpu_fallen_off_bus low ? gpu 0000:b2:00.0 of node1");
  LogCase recovered;  // not fatal: the device may have gone on
  recovered.by({.host = "node1"}).says(LogEventKind::kPcieError, {.code = 0, .subject = "0000:b2:00.0"});
  EXPECT_EQ(recovered.told(find_log_device_fault),
            "process_or_device_unavailable/gpu_fallen_off_bus low ? gpu 0000:b2:00.0 of node1 (tentative)");
  recovered.says(LogEventKind::kOutOfMemoryKill, {.subject = "python3"});
  EXPECT_EQ(recovered.verdict(), "process_or_device_unavailable/oom_killed medium");
}

TEST(LogDeviceFault, WhatLooksLikeIt) {
  LogCase removed;
  xid(removed, 45);  // a process was ended: never a cause
  EXPECT_EQ(removed.told(find_log_device_fault), "nothing");
  for (const std::int64_t note : {63, 92, 171, 172}) {
    LogCase c;
    xid(c, note);
    EXPECT_EQ(c.told(find_log_device_fault), "nothing") << note;
  }
  LogCase corrected;
  corrected.by({.host = "node1"})
      .says(LogEventKind::kPcieCorrected, {.subject = "0000:b2:00.0", .count = 400});
  EXPECT_EQ(corrected.told(find_log_device_fault), "nothing");
  EXPECT_EQ(corrected.diagnosed().category, model::Category::kInconclusive);
}

// "45 ... caused by previous Xid N" is all that is left of N where its own line has scrolled away.
TEST(LogDeviceFault, ThePreviousXidOfA45) {
  LogCase link;
  xid(link, 45, "0000:b3:00", -1, "149");
  EXPECT_EQ(link.told(find_log_device_fault), "transport_stall/nvlink_fault medium: gpu 0000:b3:00 of node1");
  LogCase lost;
  xid(lost, 45, "0000:b3:00", -1, "79");
  EXPECT_EQ(lost.told(find_log_device_fault),
            "process_or_device_unavailable/gpu_fallen_off_bus medium: gpu 0000:b3:00 of node1");
}

// --- log_device_misuse ---

TEST(LogDeviceMisuse, XidOfAProgram) {
  for (const std::int64_t code : {13, 31, 43, 137}) {
    LogCase c;
    xid(c, code);
    const auto found = c.run(find_log_device_misuse);
    EXPECT_EQ(LogCase::tell(found), "process_or_device_unavailable/gpu_xid low ? gpu 0000:b3:00 of node1");
    ASSERT_EQ(found.size(), 1u) << code;
    EXPECT_EQ(found[0].root, "application_error");
  }
}

TEST(LogDeviceMisuse, CudaErrorOfAKernel) {
  for (const std::int64_t code : {700, 715, 716, 719}) {
    LogCase c;
    c.by_rank(3).says(LogEventKind::kCudaError, {.code = code, .detail = "an illegal memory access"});
    EXPECT_EQ(c.told(find_log_device_misuse), "process_or_device_unavailable/process_exited low ? rank 3")
        << code;
  }
}

TEST(LogDeviceMisuse, WhatLooksLikeIt) {
  LogCase removed;
  xid(removed, 45);
  EXPECT_EQ(removed.told(find_log_device_misuse), "nothing");
  LogCase not_ready;
  not_ready.by_rank(3).says(LogEventKind::kCudaError, {.code = 802});
  EXPECT_EQ(not_ready.told(find_log_device_misuse), "nothing");
  LogCase memory;
  memory.by_rank(3).says(LogEventKind::kCudaError, {.code = 2, .detail = "out of memory"});
  EXPECT_EQ(memory.told(find_log_device_misuse), "nothing");
}

// --- log_cuda_error ---

TEST(LogCudaError, OfNoReasonThatAnotherDetectorKnows) {
  LogCase in_nccl;
  in_nccl.by_rank(1).says(LogEventKind::kCudaError,
                          {.code = 999, .subject = "transport/p2p.cc", .detail = "unknown error"});
  EXPECT_EQ(in_nccl.told(find_log_cuda_error), "initialization_hang/unknown low (tentative)");
  EXPECT_EQ(in_nccl.diagnosed().headline, "a CUDA call of NCCL failed in rank 1: unknown error (999)");
  in_nccl.give_up({0, 2});
  EXPECT_EQ(in_nccl.told(find_log_cuda_error), "transport_stall/unknown low (tentative)");
  LogCase elsewhere;
  elsewhere.by_rank(1).says(LogEventKind::kCudaError, {.code = -1, .detail = "unknown error"});
  EXPECT_EQ(elsewhere.told(find_log_cuda_error),
            "process_or_device_unavailable/process_exited low (tentative)");
}

// A reason that is known comes first.
TEST(LogCudaError, BehindThoseWhoKnowTheReason) {
  LogCase c;
  c.by_rank(1).says(LogEventKind::kCudaError, {.code = 802, .subject = "init.cc"});
  EXPECT_EQ(c.verdict(), "initialization_hang/fabric_manager medium");
  LogCase nothing;
  nothing.by_rank(1).says(LogEventKind::kTrainingStep, {.code = 3});
  EXPECT_EQ(nothing.told(find_log_cuda_error), "nothing");
}

// --- log_fabric ---

TEST(LogFabric, NotReadyAtTheStart) {
  LogCase c;
  c.by_rank(0).says(LogEventKind::kCudaError, {.code = 802, .detail = "system not yet initialized"});
  EXPECT_EQ(c.told(find_log_fabric), "initialization_hang/fabric_manager medium");
}

TEST(LogFabric, AManagerThatReportsAFaultUnderARunningJob) {
  LogCase c;
  c.file("fm.log")
      .by({.host = "node1"})
      .says(LogEventKind::kFabricManagerError, {.text = "fatal error 20034"});
  c.file("job.log").give_up({0, 1});
  EXPECT_EQ(c.told(find_log_fabric).substr(0, 34), "transport_stall/fabric_manager low");
}

TEST(LogFabric, NvlinkErrorsThatCudaReports) {
  for (const std::int64_t code : {220, 721}) {
    LogCase c;
    c.by_rank(5).says(LogEventKind::kCudaError,
                      {.code = code, .detail = "uncorrectable NVLink error detected"});
    EXPECT_EQ(c.told(find_log_fabric), "transport_stall/nvlink_fault medium ? rank 5") << code;
  }
}

TEST(LogFabric, MulticastThatCannotBeBound) {
  LogCase c;
  c.by_rank(0).says(LogEventKind::kNvlsFailed, {.code = 401});
  EXPECT_EQ(c.told(find_log_fabric), "initialization_hang/nvls_failure medium");
  LogCase by_source;
  by_source.by_rank(0).communicator({.rank = 0, .ranks = 8});
  by_source.says(LogEventKind::kCudaError, {.code = 1, .detail = "invalid argument"});
  EXPECT_EQ(by_source.told(find_log_fabric), "nothing");
  by_source.says(LogEventKind::kCudaError, {.code = 1, .subject = "transport/nvls.cc"});
  EXPECT_EQ(by_source.told(find_log_fabric), "transport_stall/nvls_failure medium");
}

TEST(LogFabric, WhatLooksLikeIt) {
  LogCase c;
  c.says(LogEventKind::kFabricManagerReady).says(LogEventKind::kCudaError, {.code = 700});
  c.says(LogEventKind::kNvlinkInactive, {.subject = "GPU 0 link 3"});
  EXPECT_EQ(c.told(find_log_fabric), "nothing");
}

// --- log_gpu_memory ---

TEST(LogGpuMemory, OfARankTheOthersWaitFor) {
  LogCase c;
  c.by_rank(5).says(LogEventKind::kCudaOutOfMemory, {.subject = "torch.OutOfMemoryError"});
  c.give_up({0, 1, 2});
  EXPECT_EQ(c.told(find_log_gpu_memory), "process_or_device_unavailable/cuda_oom medium: rank 5");
}

TEST(LogGpuMemory, OfAProgramAlone) {
  LogCase c;
  c.by_rank(5).says(LogEventKind::kCudaOutOfMemory, {.subject = "torch.OutOfMemoryError"});
  EXPECT_EQ(c.told(find_log_gpu_memory), "not_communication/cuda_oom medium: rank 5");
}

TEST(LogGpuMemory, InsideNcclWhileACommunicatorIsMade) {
  LogCase c;
  c.by({.host = "node1", .pid = 77, .cuda_device = 2})
      .says(LogEventKind::kCudaOutOfMemory, {.subject = "include/alloc.h:228"});
  EXPECT_EQ(c.told(find_log_gpu_memory), "initialization_hang/cuda_oom medium: gpu 2 of node1");
}

TEST(LogGpuMemory, OnManyRanksNobodyIsSingledOut) {
  LogCase c;
  for (const int rank : {0, 1, 2, 3}) c.by_rank(rank).says(LogEventKind::kCudaOutOfMemory);
  EXPECT_EQ(c.told(find_log_gpu_memory), "not_communication/cuda_oom medium");
}

TEST(LogGpuMemory, WhatLooksLikeIt) {
  LogCase c;
  c.says(LogEventKind::kOutOfMemoryKill, {.subject = "python3"});  // of the host
  c.says(LogEventKind::kSharedMemoryFailed, {.code = 28});
  c.says(LogEventKind::kMemoryLock, {.code = 12});
  EXPECT_EQ(c.told(find_log_gpu_memory), "nothing");
}

}  // namespace
}  // namespace unhang::detect
