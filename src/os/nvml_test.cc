// SPDX-License-Identifier: Apache-2.0
#include "os/nvml.h"

#include <cstdlib>

#include <gtest/gtest.h>

namespace unhang::os {
namespace {

TEST(Nvml, ReadsTheGpusAndSaysWhichIsLost) {
  const auto report = read_nvml(FAKE_NVML);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->driver_version, "550.54.15");
  EXPECT_EQ(report->library_version, "12.550.54.15");
  EXPECT_EQ(report->cuda_version, 12040);
  ASSERT_EQ(report->gpus.size(), 2u);
  const GpuState& first = report->gpus[0];
  EXPECT_EQ(first.name, "NVIDIA H100 80GB HBM3");
  EXPECT_EQ(first.uuid, "GPU-00000000-1111-2222-3333-444444444444");
  EXPECT_EQ(first.bus_id, "00000000:1B:00.0");
  EXPECT_EQ(first.busy, 100u);
  EXPECT_EQ(first.memory_bytes, 85520809984u);
  EXPECT_EQ(first.memory_used_bytes, 1073741824u);
  EXPECT_EQ(first.power_mw, 112350u);
  EXPECT_EQ(first.sm_clock_mhz, 1980u);
  EXPECT_EQ(first.memory_clock_mhz, 2619u);
  EXPECT_EQ(first.throttle_reasons, std::nullopt) << "a function that this library does not have";
  EXPECT_EQ(first.ecc, true);
  EXPECT_EQ(first.corrected_errors, 5u);
  ASSERT_EQ(first.processes.size(), 1u);
  EXPECT_EQ(first.processes[0].pid, 4711u);
  EXPECT_EQ(first.trouble, "");
  EXPECT_EQ(report->gpus[1].trouble, "GPU is lost");
  EXPECT_EQ(report->gpus[1].busy, std::nullopt);
}

TEST(Nvml, SaysInItsOwnWordsWhyItDoesNotStart) {
  ::setenv("FAKE_NVML", "mismatch", 1);
  const auto report = read_nvml(FAKE_NVML);
  ::unsetenv("FAKE_NVML");
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, base::ErrorCode::kUnavailable);
  EXPECT_EQ(report.error().message, "Failed to initialize NVML: Driver/library version mismatch");
}

TEST(Nvml, IsOftenNotThere) {
  const auto report = read_nvml("libno-such-library.so.1");
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, base::ErrorCode::kNoInput);
}

}  // namespace
}  // namespace unhang::os
