// SPDX-License-Identifier: Apache-2.0
#include "checks/env_processes.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "checks/env_check.h"

namespace unhang::checks {
namespace {

using namespace std::chrono_literals;
using namespace std::string_literals;
namespace fs = std::filesystem;
using Status = model::CheckStatus;

// A /proc made to order.
class EnvProcessesTest : public ::testing::Test {
 protected:
  EnvProcessesTest() {
    std::string name = fs::temp_directory_path() / "unhang-env-XXXXXX";
    x_proc = ::mkdtemp(name.data());
    put("stat", "btime 1764400000\n");
    x_choice.proc = x_proc;
    x_choice.library_names = {"libnccl"};
    x_choice.end = std::chrono::steady_clock::now() + 60s;
  }
  ~EnvProcessesTest() override { fs::remove_all(x_proc); }

  void put(const std::string& name, const std::string& bytes) {
    fs::create_directories((x_proc / name).parent_path());
    std::ofstream(x_proc / name, std::ios::binary) << bytes;
  }
  void add(int pid, int parent, const std::string& environment, bool is_worker) {
    const std::string id = std::to_string(pid);
    put(id + "/stat", id + " (py) S " + std::to_string(parent) + " 1 1 0 -1\n");
    put(id + "/status", "Name:\tpy\nVmSize:\t1 kB\n");
    put(id + "/cmdline", "python3\0"s);
    put(id + "/environ", environment);
    put(id + "/maps", is_worker ? "7f0-7f1 r-xp 0 08:01 12 /usr/lib/libnccl.so.2.28.9\n" : "");
  }

  fs::path x_proc;
  ProcessChoice x_choice;
};

TEST_F(EnvProcessesTest, WorkersAreThoseBelowThatCommunicate) {
  add(10, 1, "NCCL_DEBUG=INFO\0HF_TOKEN=hush\0"s, false);
  add(12, 11, "NCCL_DEBUG=INFO\0"s, true);
  add(11, 10, "NCCL_DEBUG=INFO\0"s, false);
  add(13, 11, "PATH=/bin\0"s, true);
  add(20, 1, ""s, true);
  put("10/net/dev", "Inter-| Receive\n face |bytes\n    lo: 1 2\n  eth0: 3 4\n");
  x_choice.pid = 10;
  const auto processes = read_process_environments(x_choice);
  ASSERT_TRUE(processes) << processes.error().message;
  EXPECT_EQ(processes->environment.variables.size(), 1U);
  EXPECT_FALSE(processes->is_worker);
  ASSERT_EQ(processes->workers.size(), 2U);
  EXPECT_EQ(processes->workers[0].name, "pid 12 (py)");
  EXPECT_EQ(processes->interfaces, (std::vector<std::string>{"eth0", "lo"}));
  EXPECT_EQ(processes->libraries, (std::vector<std::string>{"/usr/lib/libnccl.so.2.28.9"}));

  const model::CheckReport report = check_processes(*processes, {});
  bool found = false;
  for (const model::CheckResult& result : report.results) {
    if (result.id != "workers-differ") continue;
    found = true;
    EXPECT_EQ(result.status, Status::kFail);
    EXPECT_EQ(result.detail, "NCCL_DEBUG is set in pid 10 (py) and missing in 1 of 2 workers");
    EXPECT_EQ(result.evidence, (std::vector<std::string>{"pid 13 (py)"}));
  }
  EXPECT_TRUE(found);
}

TEST_F(EnvProcessesTest, NoSuchProcess) {
  x_choice.pid = 4711;
  const auto processes = read_process_environments(x_choice);
  ASSERT_FALSE(processes);
  EXPECT_EQ(processes.error().code, base::ErrorCode::kNoInput);
}

TEST_F(EnvProcessesTest, ParentsInACircleEnd) {
  add(10, 11, "NCCL_DEBUG=INFO\0"s, false);
  add(11, 10, "NCCL_DEBUG=INFO\0"s, false);
  x_choice.pid = 10;
  const auto processes = read_process_environments(x_choice);
  ASSERT_TRUE(processes);
  EXPECT_EQ(processes->workers.size(), 1U);
}

TEST(EnvCheck, WhatContainersHaveInCommonIsOneResult) {
  const auto sources = read_env_text(
      "spec:\n  containers:\n"
      "  - {name: a, env: [{name: NCCL_P2P_DISABLE, value: \"1\"}]}\n"
      "  - {name: b, env: [{name: NCCL_P2P_DISABLE, value: \"1\"}]}\n"
      "  - {name: sidecar, env: [{name: TZ, value: UTC}]}\n",
      "f");
  ASSERT_TRUE(sources);
  std::size_t workarounds = 0;
  for (const model::CheckResult& result : check_sources(*sources, "f", {}).results) {
    if (result.id != "workaround") continue;
    ++workarounds;
    EXPECT_EQ(result.evidence, (std::vector<std::string>{"f:3", "f:4"}));
  }
  EXPECT_EQ(workarounds, 1U);
}

TEST(EnvCheck, AnEmptyPodIsJudgedByDefaults) {
  const auto sources = read_env_text("kind: Pod\nspec: {containers: [{name: a, image: x}]}\n", "f");
  ASSERT_TRUE(sources);
  const model::CheckReport report = check_sources(*sources, "f", {});
  EXPECT_EQ(report.worst(), Status::kWarn);
  EXPECT_EQ(report.notes.back(), "no variable of NCCL, PyTorch or vLLM is set in it");
}

}  // namespace
}  // namespace unhang::checks
