// SPDX-License-Identifier: Apache-2.0
#include "collect/node_look.h"

#include <algorithm>
#include <limits>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "collect/capture_clocks_for_tests.h"
#include "collect/node_parts.h"
#include "collect/ras_server_for_tests.h"

namespace unhang::collect {
namespace {

using namespace std::string_literals;
using model::NodeFacts;

// A node as files: two workers of one launcher in a file system of their own, one GPU, one adapter.
class NodeLookTest : public ::testing::Test, protected fixture::BundleFolder {
 protected:
  NodeLookTest() {
    const std::string top = x_folder.string();
    x_look.proc = top + "/proc";
    x_look.sys = top + "/sys";
    x_look.dev = top + "/dev";
    x_look.run = top + "/run";
    x_look.folder = top;
    x_look.variables = {"NCCL_*", "TORCH_NCCL_*", "TORCH_FR_*"};
    x_look.end = std::chrono::steady_clock::now() + std::chrono::hours(1);
    put("proc/stat", "btime 1764400000\n");
    put("proc/self/status", "Uid:\t1000\t1001\t1000\t1000\nCapEff:\t0000000400080000\n");
    put("proc/self/mounts", "proc " + x_look.proc + " proc rw,nosuid,hidepid=invisible 0 0\n");
    put("proc/self/cgroup", "0::/job/step\n");
    put("proc/sys/kernel/yama/ptrace_scope", "1\n");
    put("proc/sys/kernel/dmesg_restrict", "1\n");
    put("proc/sys/kernel/core_pattern", "|" + top + "/none %p\n");
    put("proc/driver/nvidia/version",
        "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  570.86.10  Release\n");
    process("90", "1", "NCCL_DEBUG=INFO\0NCCL_IB_HCA=mlx5\0HF_TOKEN=hush\0"s, "/usr/lib/libc.so.6");
    for (const std::string pid : {"100", "101"}) {
      const std::string rank = pid == "100" ? "0" : "1";
      process(pid, "90",
              "NCCL_DEBUG=INFO\0RANK="s + rank +
                  "\0TORCH_FR_DUMP_TEMP_FILE=/dumps/fr_\0TORCH_NCCL_DEBUG_INFO_PIPE_FILE=/dumps/pipe_\0"s +
                  "NCCL_RAS_ENABLE=0\0"s,
              "/env/nvidia/nccl/lib/libnccl.so.2");
      put("proc/" + pid + "/limits",
          "Limit                     Soft Limit           Hard Limit           Units\n"
          "Max locked memory         8388608              unlimited            bytes\n");
      put("proc/" + pid + "/cgroup", "0::/job/step\n");
      put("proc/" + pid + "/root/env/nvidia_nccl_cu12-2.28.9.dist-info/METADATA", "");
      put("proc/" + pid + "/root/env/torch/version.py", "__version__ = '2.9.1+cu128'\ndebug = False\n");
      put("proc/" + pid + "/root/dumps/fr_" + rank, "old");
      std::filesystem::last_write_time(
          x_folder / "proc" / pid / "root/dumps" / ("fr_" + rank),
          std::filesystem::file_time_type::clock::now() - std::chrono::years(20));
      EXPECT_EQ(::mkfifo((x_folder / "proc" / pid / "root/dumps" / ("pipe_" + rank + ".pipe")).c_str(), 0600),
                0);
      put("proc/" + pid + "/root/dev/nvidia0", "");
      put("proc/" + pid + "/root/dev/shm/x", "");
      put("proc/" + pid + "/root/usr/lib64/libnvidia-ml.so.550.54.15", "");
    }
    put("sys/fs/cgroup/job/memory.max", "1000000\n");
    put("sys/fs/cgroup/job/memory.current", "900000\n");
    put("sys/fs/cgroup/job/memory.stat", "anon 1\ninactive_file 200000\n");
    put("sys/fs/cgroup/job/step/memory.max", "max\n");
    put("sys/class/infiniband/mlx5_0/node_type", "");
    device("0000:18:00.0", "0x10de", "0x030200", "0x2330");
    device("0000:19:00.0", "0x15b3", "0x020700", "0x1021");
    device("0000:20:00.0", "0x8086", "0x020000", "0x1521");
  }

  void process(const std::string& pid, const std::string& parent, const std::string& environment,
               const std::string& library) {
    put("proc/" + pid + "/stat",
        pid + " (python3) S " + parent + " 1 1 0 -1 0 1 2 3 4 5 6 7 8 20 0 1 0 100 1000 1 2\n");
    put("proc/" + pid + "/status",
        "Uid:\t" + std::to_string(::getuid()) + "\t" + std::to_string(::getuid()) +
            "\t0\t0\nGid:\t50\t50\t50\t50\nGroups:\t50 60 \nVmSize:\t1 kB\nNSpid:\t" + pid + "\n");
    put("proc/" + pid + "/cmdline", "python3\0train.py\0"s);
    put("proc/" + pid + "/environ", environment);
    put("proc/" + pid + "/maps", "7f0-7f1 r-xp 00000000 08:01 12 " + library + "\n" +
                                     "7f1-7f2 r-xp 00000000 08:01 13 /env/torch/lib/libtorch_cuda.so\n");
  }
  void device(const std::string& address, const std::string& vendor, const std::string& kind,
              const std::string& number) {
    put("sys/bus/pci/devices/" + address + "/vendor", vendor + "\n");
    put("sys/bus/pci/devices/" + address + "/class", kind + "\n");
    put("sys/bus/pci/devices/" + address + "/device", number + "\n");
  }
  NodeFacts look() {
    const auto facts = look_at_node(x_look);
    EXPECT_TRUE(facts.has_value());
    return facts.value_or(NodeFacts{});
  }

  NodeLook x_look;
};

TEST_F(NodeLookTest, WorkersWithTheirReleasesRightsAndLauncher) {
  x_look.pids = {100, 101};
  const NodeFacts facts = look();
  ASSERT_EQ(facts.workers.size(), 2u);
  const model::NodeWorker& worker = facts.workers[1];
  EXPECT_EQ(worker.process.pid, 101);
  EXPECT_EQ(worker.user, static_cast<std::int64_t>(::getuid()));
  EXPECT_EQ(worker.groups, (std::vector<std::int64_t>{50, 60, 50}));
  EXPECT_EQ(worker.rank, 1);
  EXPECT_EQ(worker.nccl_release, "2.28.9");
  EXPECT_EQ(worker.torch_release, "2.9.1");
  EXPECT_EQ(worker.memlock_bytes, 8388608u);
  EXPECT_TRUE(worker.has_own_root);
  ASSERT_EQ(facts.launchers.size(), 1u);
  EXPECT_EQ(facts.launchers[0].pid, 90);
  EXPECT_EQ(facts.workers[0].launcher, 0u);
  EXPECT_EQ(facts.workers[1].launcher, 0u);
  for (const auto& [name, value] : facts.launchers[0].environment) EXPECT_NE(value, "hush") << name;
}

TEST_F(NodeLookTest, DumpFoldersAndFifosAsTheWorkersSeeThem) {
  x_look.pids = {100};
  const NodeFacts facts = look();
  ASSERT_EQ(facts.dump_places.size(), 1u);
  EXPECT_EQ(facts.dump_places[0].prefix, "/dumps/fr_");
  EXPECT_TRUE(facts.dump_places[0].is_set);
  EXPECT_EQ(facts.dump_places[0].reach, x_look.proc + "/100/root");
  EXPECT_TRUE(facts.dump_places[0].folder.exists);
  EXPECT_EQ(facts.dump_places[0].folder.kind, model::PathKind::kFolder);
  EXPECT_GT(facts.dump_places[0].folder.bytes_total, 0u);
  EXPECT_EQ(facts.dump_places[0].old_dumps, (std::vector<std::string>{"/dumps/fr_0"}));
  ASSERT_EQ(facts.fifos.size(), 1u);
  ASSERT_EQ(facts.fifos[0].pipes.size(), 1u);
  EXPECT_EQ(facts.fifos[0].pipes[0].first, 0);
  EXPECT_EQ(facts.fifos[0].pipes[0].second.kind, model::PathKind::kFifo);
  EXPECT_EQ(facts.fifos[0].pipes[0].second.rights, 0600u);
}

TEST_F(NodeLookTest, TheDefaultFolderOfDumpsByRelease) {
  x_look.pids = {100};
  put("proc/100/environ", "HOME=/home/u\0XDG_CACHE_HOME=/c\0"s);
  put("proc/100/root/home/x", "");
  const auto place = [&](const std::string& torch) {
    put("proc/100/root/env/torch/version.py", "__version__ = '" + torch + "'\n");
    const NodeFacts facts = look();
    return facts.dump_places.empty() ? model::NodeDumpPlace{} : facts.dump_places[0];
  };
  EXPECT_EQ(place("2.7.1").prefix, "/tmp/nccl_trace_rank_");
  EXPECT_EQ(place("2.10.0").prefix, "/c/torch/comm_lib_trace_rank_");
  const model::NodeDumpPlace home = place("2.9.1");
  EXPECT_EQ(home.prefix, "/home/u/.cache/torch/comm_lib_trace_rank_");
  EXPECT_FALSE(home.is_set);
  EXPECT_TRUE(home.folder.looked);
  EXPECT_FALSE(home.folder.exists);
  EXPECT_EQ(home.above.path, "/home");
  EXPECT_TRUE(home.above.exists);
}

TEST_F(NodeLookTest, DevicesAndDriverAsTheWorkersSeeThem) {
  x_look.pids = {100};
  const model::NodeDevices devices = look().devices;
  EXPECT_EQ(devices.gpus, (std::vector<std::string>{"0000:18:00.0"}));
  EXPECT_EQ(devices.rdma_capable, (std::vector<std::string>{"0000:19:00.0"}));
  EXPECT_EQ(devices.rdma, (std::vector<std::string>{"mlx5_0"}));
  EXPECT_FALSE(devices.rdma_nodes);
  EXPECT_EQ(devices.gpu_nodes, (std::vector<std::string>{"nvidia0"}));
  EXPECT_FALSE(devices.gpu_control);
  EXPECT_EQ(devices.kernel_driver, "570.86.10");
  EXPECT_EQ(devices.driver_library, "550.54.15");
}

TEST_F(NodeLookTest, SharedMemoryOfEachContainer) {
  x_look.pids = {100, 101};
  const NodeFacts facts = look();
  ASSERT_EQ(facts.shm.size(), 2u);  // their mount namespaces are not known: each may have its own
  EXPECT_TRUE(facts.shm[0].folder.exists);
  EXPECT_EQ(facts.shm[1].workers, (std::vector<std::size_t>{1}));
}

TEST_F(NodeLookTest, APodWithAnAccount) {
  x_look.match = "no such process";
  x_look.environment = {{"KUBERNETES_SERVICE_HOST", "10.0.0.1"}};
  EXPECT_FALSE(look().has_kubernetes_account);
  put("run/secrets/kubernetes.io/serviceaccount/token", "hush");
  const NodeFacts facts = look();
  EXPECT_TRUE(facts.has_kubernetes_account);
  EXPECT_TRUE(facts.in_kubernetes);
  EXPECT_TRUE(facts.in_container);
}

TEST_F(NodeLookTest, RightsMemoryAndCoreFiles) {
  const NodeFacts facts = look();
  EXPECT_EQ(facts.rights.user, 1001);
  EXPECT_EQ(facts.rights.capabilities, 0x400080000u);
  EXPECT_EQ(facts.rights.ptrace_scope, 1);
  EXPECT_EQ(facts.rights.dmesg_restrict, 1);
  EXPECT_EQ(facts.rights.perf_event_paranoid, std::nullopt);
  EXPECT_EQ(facts.rights.hidepid, "invisible");
  EXPECT_FALSE(facts.rights.kernel_log.exists);
  EXPECT_EQ(facts.core_handler_exists, false);
  ASSERT_EQ(facts.memory.size(), 1u);  // the limit of the level above
  EXPECT_EQ(facts.memory[0].group, "/job");
  EXPECT_EQ(facts.memory[0].limit, 1'000'000u);
  EXPECT_EQ(facts.memory[0].used, 700'000u);
}

TEST_F(NodeLookTest, ToolsOfThePathThatWasSaid) {
  put("bin/py-spy", "#!/bin/sh\n");
  ASSERT_EQ(::chmod((x_folder / "bin/py-spy").c_str(), 0755), 0);
  x_look.environment = {{"PATH", (x_folder / "bin").string()}, {"SLURM_JOB_ID", "7"}};
  const NodeFacts facts = look();
  ASSERT_NE(facts.tool("py-spy"), nullptr);
  EXPECT_EQ(*facts.tool("py-spy"), (x_folder / "bin/py-spy").string());
  EXPECT_EQ(facts.tool("gdb"), nullptr);
  EXPECT_TRUE(facts.in_slurm);
  EXPECT_FALSE(facts.in_kubernetes);
}

TEST_F(NodeLookTest, RasIsGreetedAndNotAsked) {
  const PlayedRas played;
  const net::ScriptedServer server(play(played));
  x_look.ras = {{"127.0.0.1", server.port()}};
  x_look.nccl_release = NcclRelease{2, 28, 9};
  const NodeFacts facts = look();
  ASSERT_EQ(facts.ras.size(), 1u);
  EXPECT_TRUE(facts.ras[0].answered);
  EXPECT_TRUE(facts.ras[0].expected);
  EXPECT_EQ(facts.ras[0].trouble, "");
  EXPECT_EQ(facts.ras[0].release, "2.28.9");
  for (const std::string& line : played.asked->all()) EXPECT_EQ(line, "CLIENT PROTOCOL 2");
}

TEST_F(NodeLookTest, RasThatSaysNothingEndsInTime) {
  const net::ScriptedServer server([](net::ServerTalk& talk) { talk.pause(-1); });
  x_look.ras = {{"127.0.0.1", server.port()}};
  const auto began = std::chrono::steady_clock::now();
  const NodeFacts facts = look();
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(10));
  ASSERT_EQ(facts.ras.size(), 1u);
  EXPECT_FALSE(facts.ras[0].answered);
  EXPECT_NE(facts.ras[0].trouble.find("said nothing"), std::string::npos) << facts.ras[0].trouble;
}

TEST_F(NodeLookTest, WhoListensButIsNoRas) {
  const net::ScriptedServer server([](net::ServerTalk& talk) { talk.send("SSH-2.0-OpenSSH\n"); });
  x_look.ras = {{"127.0.0.1", server.port()}};
  const NodeFacts facts = look();
  ASSERT_EQ(facts.ras.size(), 1u);
  EXPECT_FALSE(facts.ras[0].answered);
  EXPECT_NE(facts.ras[0].trouble.find("is not RAS"), std::string::npos) << facts.ras[0].trouble;
}

TEST_F(NodeLookTest, WhereThePortIsOpen) {
  put("proc/net/tcp",
      "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
      "   0: 00000000:6D7C 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4711 1 0 "
      "100\n"
      "   1: 0100007F:6D7D 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4712 1 0 "
      "100\n");
  x_look.match = "no such process";
  const NodeFacts facts = look();  // nobody asked for it, but something listens
  ASSERT_EQ(facts.ras.size(), 1u);
  EXPECT_FALSE(facts.ras[0].expected);
  ASSERT_EQ(facts.ras[0].bound.size(), 1u);
  EXPECT_EQ(facts.ras[0].bound[0].first, "0.0.0.0");
  EXPECT_EQ(facts.ras[0].bound[0].second, model::AddressScope::kEverywhere);
}

TEST_F(NodeLookTest, WithoutWorkersAClosedPortIsNoFinding) {
  x_look.match = "no such process";
  EXPECT_TRUE(look().ras.empty());
}

TEST_F(NodeLookTest, EnginesAndTheirCounters) {
  put("page.txt", "# TYPE vllm:num_requests_running gauge\nvllm:num_requests_running{engine=\"0\"} 3\n");
  put("other.txt", "# TYPE go_goroutines gauge\ngo_goroutines 7\n");
  for (const char* name : {"page.txt", "other.txt"}) {
    auto endpoint = parse_engine("file://" + (x_folder / name).string());
    ASSERT_TRUE(endpoint.has_value());
    x_look.engines.push_back(std::move(*endpoint));
  }
  const NodeFacts facts = look();
  ASSERT_EQ(facts.engines.size(), 2u);
  EXPECT_EQ(facts.engines[0].engine, "vllm");
  EXPECT_EQ(facts.engines[0].counters, 1u);
  EXPECT_TRUE(facts.engines[1].has_page);
  EXPECT_EQ(facts.engines[1].engine, "");
}

TEST_F(NodeLookTest, WithoutProcThereIsNothingToSay) {
  x_look.proc = (x_folder / "none").string();
  EXPECT_FALSE(look_at_node(x_look).has_value());
}

TEST(NodeParts, TextsOfTheKernel) {
  EXPECT_EQ(memlock_of("Max locked memory         unlimited            unlimited            bytes\n"),
            std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(memlock_of("Max processes 1 2\n"), std::nullopt);
  EXPECT_EQ(
      kernel_driver_of("NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.15  Tue Mar\nGCC 12.2.0\n"),
      "550.54.15");
  EXPECT_EQ(kernel_driver_of("GCC version:  gcc version 12.2.0\n"), "");
  EXPECT_EQ(torch_release_of("from typing import Optional\n__version__ = '2.11.0a0+git1'\n"), "2.11.0");
  EXPECT_EQ(torch_release_of("cuda = '12.8'\n"), "");
  EXPECT_EQ(status_value("Name:\tx\nUid:\t1\t2\n", "Uid"), "1\t2");
  EXPECT_EQ(numbers_in("1\t-2 3x 4"), (std::vector<std::int64_t>{1, -2, 3}));
}

}  // namespace
}  // namespace unhang::collect
