// SPDX-License-Identifier: Apache-2.0
#include "collect/worker_processes.h"

#include <gtest/gtest.h>

#include "collect/capture_clocks_for_tests.h"

namespace unhang::collect {
namespace {

using namespace std::string_literals;
using Status = model::SourceStatus;

class WorkersTest : public ::testing::Test, protected fixture::BundleFolder {
 protected:
  WorkersTest() {
    x_choice.proc = x_folder / "proc";
    x_choice.end = std::chrono::steady_clock::now() + std::chrono::hours(1);
    put("proc/stat", "btime 1764400000\n");
    process("10", "python3\0-m\0vllm\0--api-key\0hunter2\0"s, "/x/libnccl.so.2.28.9");
    process("20", "python3\0train.py\0"s, "/x/libtorch_cuda.so");
    process("30", "nginx\0"s, "/usr/lib/libc.so.6");
  }
  void process(const std::string& pid, const std::string& command_line, const std::string& library) {
    put("proc/" + pid + "/stat", pid + " (python3) S 1 1 1 0 -1 0 1 2 3 4 5 6 7 8 20 0 1 0 100 1000 1 2\n");
    put("proc/" + pid + "/status", "Uid:\t0\t0\t0\t0\nVmSize:\t1 kB\nNSpid:\t" + pid + "\t7\n");
    put("proc/" + pid + "/cmdline", command_line);
    put("proc/" + pid + "/environ", "HOME=/root\0RANK=1\0NCCL_DEBUG=INFO\0HF_TOKEN=t\0NCCL_NET_API_KEY=k\0"s);
    put("proc/" + pid + "/maps", "7f0-7f1 r-xp 00000000 08:01 12 " + library + "\n");
  }
  std::vector<std::int64_t> found() {
    std::vector<std::int64_t> out;
    for (const auto& worker : find_workers(x_choice).processes) out.push_back(worker.pid);
    return out;
  }

  WorkerChoice x_choice;
};

TEST_F(WorkersTest, AreThoseThatHaveTheLibrary) {
  EXPECT_EQ(found(), (std::vector<std::int64_t>{10, 20}));
}

TEST_F(WorkersTest, WithTheProcessesBelowThem) {
  process("31", "sh\0"s, "/usr/lib/libcuda.so.550.54.15");
  process("32", "git\0"s, "/usr/lib/libc.so.6");
  put("proc/31/stat", "31 (sh) S 20 1 1 0 -1 0 1 2 3 4 5 6 7 8 20 0 1 0 100 1000 1 2\n");
  put("proc/32/stat", "32 (git) S 31 1 1 0 -1 0 1 2 3 4 5 6 7 8 20 0 1 0 100 1000 1 2\n");
  const Workers workers = find_workers(x_choice);
  EXPECT_EQ(workers.processes.size(), 2u) << "the driver's library alone makes no worker";
  ASSERT_EQ(workers.descendants.size(), 2u);
  EXPECT_EQ(workers.descendants[0].pid, 31);
  EXPECT_EQ(workers.descendants[1].pid, 32);
}

TEST_F(WorkersTest, OrThoseThatAreNamed) {
  x_choice.match = "train.py";
  EXPECT_EQ(found(), (std::vector<std::int64_t>{20}));
  x_choice.match = "-m vllm";
  EXPECT_EQ(found(), (std::vector<std::int64_t>{10}));
  x_choice.pids = {30};
  EXPECT_EQ(found(), (std::vector<std::int64_t>{10, 30}));
}

TEST_F(WorkersTest, WhatABundleSaysOfThem) {
  const Workers workers = find_workers(x_choice);
  ASSERT_EQ(workers.facts.size(), 2u);
  const model::BundleProcess& facts = workers.facts[0];
  EXPECT_EQ(facts.namespace_pids, (std::vector<std::int64_t>{10, 7}));
  EXPECT_EQ(facts.nccl_version, "2.28.9");
  EXPECT_EQ(facts.environment,
            (std::vector<std::pair<std::string, std::string>>{{"NCCL_DEBUG", "INFO"}, {"RANK", "1"}}));
  EXPECT_EQ(*workers.processes[0].variable("HOME"), "/root") << "needed to find dumps, and not written down";
  EXPECT_EQ(workers.processes[0].variable("HF_TOKEN"), nullptr);
}

TEST_F(WorkersTest, SaysWhatItCouldNotSee) {
  EXPECT_EQ(find_workers(x_choice).status, Status::kAnswered);
  std::filesystem::remove(x_folder / "proc/20/environ");
  Workers workers = find_workers(x_choice);
  EXPECT_EQ(workers.status, Status::kPartial);
  EXPECT_EQ(workers.reason,
            "the environment of 1 of 2 processes may not be read: run it as their user or as root");
  x_choice.match = "nobody";
  workers = find_workers(x_choice);
  EXPECT_EQ(workers.status, Status::kMissing);
  EXPECT_EQ(workers.reason, "none of the processes asked for was found");
  x_choice.proc = x_folder / "nothing";
  EXPECT_EQ(find_workers(x_choice).status, Status::kFailed);
}

}  // namespace
}  // namespace unhang::collect
