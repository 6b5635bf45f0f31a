// SPDX-License-Identifier: Apache-2.0
#include "collect/gpu_source.h"

#include <gtest/gtest.h>

#include "collect/fake_programs_for_tests.h"

namespace unhang::collect {
namespace {

using namespace std::chrono_literals;
using Status = model::SourceStatus;

class GpuSourceTest : public ::testing::Test, protected fixture::FakePrograms {
 protected:
  SourceOutcome run(std::vector<std::string> nvml = {}, std::chrono::nanoseconds budget = 25s) {
    return run_alone(
        gpu_source("gpu", {x_folder / "proc", x_folder / "dev", programs(), std::move(nvml)}, x_names),
        budget);
  }
};

TEST_F(GpuSourceTest, NothingHere) {
  const auto outcome = run();
  EXPECT_EQ(outcome.status, Status::kMissing);
  EXPECT_EQ(outcome.reason, "there is no NVIDIA driver here and no nvidia-smi");
  EXPECT_TRUE(x_files.empty());
}

TEST_F(GpuSourceTest, KeepsTablesAndTheDriver) {
  put("proc/driver/nvidia/version", "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.15\n");
  put("proc/driver/nvidia/gpus/0000:1b:00.0/information", "Model: NVIDIA H100\nDevice Minor: 0\n");
  put("proc/driver/nvidia/gpus/0000:0a:00.0/information", "Model: NVIDIA H100\nDevice Minor: 1\n");
  program("nvidia-smi", "echo \"$*\" | cut -c1-30");
  program("nvml", "echo nvml");
  const auto outcome = run({"nvml"});
  EXPECT_EQ(outcome.status, Status::kAnswered) << outcome.reason;
  EXPECT_EQ(
      kept("gpu", "driver.txt"),
      "==> " + (x_folder / "proc").string() +
          "/driver/nvidia/version <==\nNVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.15\n\n==> " +
          (x_folder / "proc").string() +
          "/driver/nvidia/gpus/0000:0a:00.0/information <==\nModel: NVIDIA H100\nDevice Minor: 1\n\n==> " +
          (x_folder / "proc").string() +
          "/driver/nvidia/gpus/0000:1b:00.0/information <==\nModel: NVIDIA H100\nDevice Minor: 0\n\n");
  EXPECT_EQ(kept("gpu", "nvidia-smi-query.csv"), "--query-gpu=index,name,uuid,pc\n");
  EXPECT_EQ(kept("gpu", "nvidia-smi-topo.txt"), "topo -m\n");
  EXPECT_EQ(kept("gpu", "nvidia-smi-q.txt"), "-q\n");
  EXPECT_EQ(kept("gpu", "nvml.csv"), "nvml\n");
  EXPECT_EQ(x_files.size(), 7u);
}

TEST_F(GpuSourceTest, ARefusalIsKeptAndSaid) {
  program("nvidia-smi", "echo 'Failed to initialize NVML: Driver/library version mismatch'; exit 18");
  const auto outcome = run();
  EXPECT_EQ(outcome.status, Status::kPartial);
  EXPECT_EQ(outcome.reason,
            "nvidia-smi: Failed to initialize NVML: Driver/library version mismatch (exit status 18)");
  EXPECT_NE(kept("gpu", "nvidia-smi-query.csv").find("version mismatch"), std::string::npos);
}

TEST_F(GpuSourceTest, ColumnsThatItDoesNotKnowAreLeftOut) {
  program("nvidia-smi",
          "case \"$*\" in *throttle*) echo 'Field \"x\" is not a valid field to query.'; exit 2;; esac; echo "
          "\"$*\"");
  const auto outcome = run();
  EXPECT_EQ(outcome.status, Status::kPartial);
  EXPECT_NE(kept("gpu", "nvidia-smi-query.csv").find("--query-gpu=index,name"), std::string::npos);
}

TEST_F(GpuSourceTest, OneThatHangsIsEndedAndSaid) {
  program("nvidia-smi", "trap '' TERM; while :; do sleep 1; done");
  const auto began = std::chrono::steady_clock::now();
  const auto outcome = run({}, 1s);
  EXPECT_LT(std::chrono::steady_clock::now() - began, 8s);
  EXPECT_EQ(outcome.status, Status::kSilent);
  EXPECT_NE(outcome.reason.find("nvidia-smi: it was not done in its time and was ended"), std::string::npos)
      << outcome.reason;
}

TEST_F(GpuSourceTest, WithoutItNvmlIsAsked) {
  put("dev/nvidiactl", "");
  program("nvml", "echo index, name");
  const auto outcome = run({"nvml"});
  EXPECT_EQ(outcome.status, Status::kPartial);
  EXPECT_EQ(outcome.reason, "nvidia-smi: not installed");
  EXPECT_EQ(kept("gpu", "nvml.csv"), "index, name\n");
}

TEST_F(GpuSourceTest, WithoutADriverNvmlIsNotAsked) {
  program("nvml", "echo asked");
  EXPECT_EQ(run({"nvml"}).status, Status::kMissing);
  EXPECT_TRUE(x_files.empty());
}

TEST_F(GpuSourceTest, ANvmlThatDoesNotStartIsEvidence) {
  put("dev/nvidiactl", "");
  program("nvml", "echo 'Failed to initialize NVML: Driver/library version mismatch'; exit 69");
  const auto outcome = run({"nvml"});
  EXPECT_EQ(
      outcome.reason,
      "nvidia-smi: not installed; NVML: Failed to initialize NVML: Driver/library version mismatch (exit "
      "status 69)");
  EXPECT_EQ(x_files.size(), 1u);
}

}  // namespace
}  // namespace unhang::collect
