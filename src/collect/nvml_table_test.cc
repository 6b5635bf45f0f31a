// SPDX-License-Identifier: Apache-2.0
#include "collect/nvml_table.h"

#include <gtest/gtest.h>

#include "formats/catalogue.h"

namespace unhang::collect {
namespace {

os::NvmlReport two_gpus() {
  os::NvmlReport report{"550.54.15", "12.550.54.15", 12040, {}};
  os::GpuState gpu;
  gpu.name = "NVIDIA H100 80GB HBM3";
  gpu.uuid = "GPU-00000000-1111-2222-3333-444444444444";
  gpu.bus_id = "00000000:1B:00.0";
  gpu.performance_state = 0;
  gpu.busy = 100;
  gpu.memory_bytes = 85520809984;
  gpu.power_mw = 112350;
  gpu.power_limit_mw = 700000;
  gpu.throttle_reasons = 4;
  gpu.ecc = true;
  gpu.processes = {{4711, 536870912}};
  report.gpus.push_back(gpu);
  gpu = {};
  gpu.bus_id = "00000000:43:00.0";
  gpu.trouble = "GPU is lost";
  report.gpus.push_back(gpu);
  return report;
}

TEST(NvmlTable, LooksLikeThatOfNvidiaSmi) {
  const std::string text = nvml_table(two_gpus());
  EXPECT_NE(text.find("\n0, NVIDIA H100 80GB HBM3, GPU-00000000-1111-2222-3333-444444444444, "
                      "00000000:1B:00.0, 550.54.15, "
                      "P0, [N/A], 100 %, [N/A], 81559 MiB, [N/A], 112.35 W, 700.00 W, [N/A], [N/A], "
                      "0x0000000000000004, Enabled, [N/A], [N/A]\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("\nGPU-00000000-1111-2222-3333-444444444444, 4711, 512 MiB\n"), std::string::npos);
  EXPECT_NE(
      text.find("\nNVML 12.550.54.15, driver 550.54.15, CUDA 12.4\nGPU 1 00000000:43:00.0: GPU is lost\n"),
      std::string::npos);
}

TEST(NvmlTable, IsReadAsATableOfGpus) {
  const auto evidence = formats::read_evidence("nvml.csv", nvml_table(two_gpus()));
  EXPECT_EQ(evidence.kind, "log");
  ASSERT_EQ(evidence.logs.size(), 1u);
  ASSERT_GE(evidence.logs[0].gpus.size(), 1u);
}

}  // namespace
}  // namespace unhang::collect
