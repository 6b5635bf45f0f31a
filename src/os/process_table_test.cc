// SPDX-License-Identifier: Apache-2.0
#include "os/process_table.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <unistd.h>

namespace unhang::os {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

// A /proc made to order.
class ProcessTableTest : public ::testing::Test {
 protected:
  ProcessTableTest() {
    std::string name = fs::temp_directory_path() / "unhang-proc-XXXXXX";
    x_proc = ::mkdtemp(name.data());
    put("stat", "cpu  1 2 3\nbtime 1764400000\nprocesses 99\n");
    x_options.proc = x_proc;
    x_options.variables = {"RANK", "NCCL_*"};
    x_options.library_names = {"libnccl", "libtorch_cuda"};
    x_options.deadlines.still = 60s;
  }
  ~ProcessTableTest() override { fs::remove_all(x_proc); }

  void put(const std::string& name, const std::string& bytes) {
    fs::create_directories((x_proc / name).parent_path());
    std::ofstream(x_proc / name, std::ios::binary) << bytes;
  }

  void put_worker(const std::string& pid) {
    using namespace std::string_literals;
    put(pid + "/stat", pid + " (odd) name) S 1 1 1 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 250 1000 1 2\n");
    put(pid + "/status",
        "Name:\todd) name\nUid:\t1000\t1001\t1001\t1001\nVmSize:\t  100 kB\nNSpid:\t" + pid + "\t412\n");
    put(pid + "/cmdline", "python3\0-m\0vllm\0--api-key\0hunter2\0"s);
    put(pid + "/environ",
        "HOME=/root\0RANK=3\0NCCL_RAS_ADDR=[::1]:28028\0HF_TOKEN=secret\0RANK=4\0broken\0"s);
    put(pid + "/maps",
        "7f0-7f1 r-xp 00000000 08:01 12 /usr/lib/libnccl.so.2.28.9\n"
        "7f1-7f2 r--p 00001000 08:01 12 /usr/lib/libnccl.so.2.28.9\n"
        "7f3-7f4 r-xp 00000000 08:01 13 /opt/my torch/libtorch_cuda.so (deleted)\n"
        "7f5-7f6 r-xp 00000000 08:01 14 /usr/lib/libc.so.6\n"
        "7ff-800 rw-p 00000000 00:00 0 [stack]\n");
    fs::create_directories(x_proc / pid / "ns");
    fs::create_symlink("mnt:[4026531841]", x_proc / pid / "ns/mnt");
  }

  fs::path x_proc;
  ProcessTableOptions x_options;
};

TEST_F(ProcessTableTest, TheDeadOnlyWhereTheyAreAskedFor) {
  put_worker("88121");
  put("88122/stat", "88122 (python3) Z 88121 1 1 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 250 0 0 2\n");
  put("88122/status", "Name:\tpython3\nState:\tZ (zombie)\nUid:\t1000\t1000\t1000\t1000\n");
  put("88122/cmdline", "");
  put("2/stat", "2 (kthreadd) S 0 0 0 0 -1 2129984 0 0 0 0 0 0 0 0 20 0 1 0 1 0 0 2\n");
  put("2/status", "Name:\tkthreadd\nState:\tS (sleeping)\nUid:\t0\t0\t0\t0\n");
  EXPECT_EQ(read_process_table(x_options)->processes.size(), 1u);
  x_options.dead = true;
  const auto table = read_process_table(x_options);
  ASSERT_EQ(table->processes.size(), 2u);
  EXPECT_FALSE(table->processes[0].has_ended);
  EXPECT_TRUE(table->processes[1].has_ended);
  EXPECT_EQ(table->processes[1].name, "python3");
  EXPECT_EQ(table->processes[1].parent, 88121);
}

TEST_F(ProcessTableTest, ReadsAllOfAWorker) {
  put_worker("88121");
  const auto table = read_process_table(x_options);
  ASSERT_TRUE(table);
  ASSERT_EQ(table->processes.size(), 1u);
  const Process& worker = table->processes[0];
  EXPECT_EQ(worker.pid, 88121);
  EXPECT_EQ(worker.parent, 1);
  EXPECT_EQ(worker.name, "odd) name");
  EXPECT_EQ(worker.command_line, (std::vector<std::string>{"python3", "-m", "vllm", "--api-key", "hunter2"}));
  EXPECT_EQ(worker.user, 1000);
  EXPECT_EQ(worker.started_ns, 1764400000'000'000'000 + 250 * (1'000'000'000 / ::sysconf(_SC_CLK_TCK)));
  EXPECT_EQ(worker.namespace_pids, (std::vector<std::int64_t>{88121, 412}));
  EXPECT_TRUE(worker.environment_known);
  EXPECT_EQ(worker.environment, (std::vector<std::pair<std::string, std::string>>{
                                    {"NCCL_RAS_ADDR", "[::1]:28028"}, {"RANK", "3"}}));
  EXPECT_EQ(*worker.variable("RANK"), "3");
  EXPECT_EQ(worker.variable("HF_TOKEN"), nullptr);
  EXPECT_EQ(worker.libraries, (std::vector<std::string>{"/opt/my torch/libtorch_cuda.so (deleted)",
                                                        "/usr/lib/libnccl.so.2.28.9"}));
  EXPECT_EQ(worker.root, x_proc.string() + "/88121/root");
  EXPECT_EQ(worker.mount_namespace, "mnt:[4026531841]");
  EXPECT_TRUE(worker.not_readable.empty());
  EXPECT_TRUE(table->notes.empty());
}

TEST_F(ProcessTableTest, WhatIsMissingIsSaidAndCostsNothingElse) {
  put_worker("7");
  fs::remove(x_proc / "7/environ");
  put_worker("30");
  put("30/status", "");
  put_worker("100");
  fs::remove(x_proc / "100/stat");  // it has ended meanwhile
  put("2/stat", "2 (kthreadd) S 0 0 0");
  put("2/status", "Name:\tkthreadd\nUid:\t0\t0\t0\t0\nNSpid:\t2\n");
  put("2/cmdline", "");
  put("2/environ", "");
  put("2/maps", "");
  put("self/stat", "not a number");
  const auto table = read_process_table(x_options);
  ASSERT_TRUE(table);
  ASSERT_EQ(table->processes.size(), 2u);
  EXPECT_EQ(table->processes[0].pid, 7);
  EXPECT_FALSE(table->processes[0].environment_known);
  EXPECT_TRUE(table->processes[0].libraries_known);
  EXPECT_EQ(table->processes[0].not_readable,
            (std::vector<std::string>{"environ: No such file or directory"}));
  EXPECT_EQ(table->processes[1].pid, 30);
  EXPECT_EQ(table->processes[1].user, std::nullopt);
  EXPECT_EQ(table->processes[1].namespace_pids, (std::vector<std::int64_t>{30}));
}

TEST_F(ProcessTableTest, BoundsTheNumberOfProcesses) {
  for (int pid = 1; pid <= 5; ++pid) put_worker(std::to_string(pid));
  x_options.max_processes = 3;
  const auto table = read_process_table(x_options);
  ASSERT_TRUE(table);
  EXPECT_EQ(table->processes.size(), 3u);
  EXPECT_EQ(table->notes, (std::vector<std::string>{"only the first 3 of 5 processes were looked at"}));
}

TEST_F(ProcessTableTest, DamagedFilesGiveNoNumbers) {
  put_worker("5");
  put("5/stat", "5 (x");
  put("5/status", "Uid:\tmany\nVmSize: 1\nNSpid:\n");
  put("stat", "btime never\n");
  const auto table = read_process_table(x_options);
  ASSERT_TRUE(table);
  ASSERT_EQ(table->processes.size(), 1u);
  EXPECT_EQ(table->processes[0].started_ns, std::nullopt);
  EXPECT_EQ(table->processes[0].user, std::nullopt);
  EXPECT_EQ(table->processes[0].namespace_pids, (std::vector<std::int64_t>{5}));
}

TEST_F(ProcessTableTest, FailsWithoutProc) {
  x_options.proc = x_proc / "nothing";
  const auto table = read_process_table(x_options);
  ASSERT_FALSE(table);
  EXPECT_EQ(table.error().code, base::ErrorCode::kUnavailable);
}

TEST(ProcessTable, FindsItself) {
  const auto table = read_process_table({.deadlines = {.still = 60s}});
  ASSERT_TRUE(table);
  const auto self = std::find_if(table->processes.begin(), table->processes.end(),
                                 [](const Process& process) { return process.pid == ::getpid(); });
  ASSERT_NE(self, table->processes.end());
  EXPECT_TRUE(self->environment.empty()) << "nothing was asked for";
  EXPECT_EQ(self->user, static_cast<std::int64_t>(::getuid()));
  EXPECT_GT(self->started_ns.value_or(0), 1'600'000'000'000'000'000);
}

}  // namespace
}  // namespace unhang::os
