// SPDX-License-Identifier: Apache-2.0
#include "collect/system_source.h"

#include <nlohmann/json.hpp>

#include <gtest/gtest.h>

#include "collect/fake_programs_for_tests.h"
#include "collect/worker_limits.h"

namespace unhang::collect {
namespace {

using Json = nlohmann::json;
using Status = model::SourceStatus;

TEST(WorkerLimits, OfTheKernelsTable) {
  const auto limits = limits_of(
      "Limit                     Soft Limit           Hard Limit           Units     \n"
      "Max cpu time              unlimited            unlimited            seconds   \n"
      "Max locked memory         67108864             unlimited            bytes     \n"
      "Max short\n");
  ASSERT_EQ(limits.size(), 2u);
  EXPECT_EQ(limits.at("Max locked memory"), std::pair(std::string("67108864"), std::string("unlimited")));
}

TEST(WorkerLimits, CgroupsOfBothVersions) {
  EXPECT_EQ(cgroup_folders("0::/kubepods/pod1/c\n"), (std::vector<std::string>{"kubepods/pod1/c"}));
  EXPECT_EQ(cgroup_folders("12:pids:/docker/x\n3:cpu,cpuacct:/docker/x\n2:memory:/docker/x\n"),
            (std::vector<std::string>{"pids/docker/x", "memory/docker/x"}));
  EXPECT_TRUE(cgroup_folders("nonsense\n").empty());
}

TEST(WorkerLimits, TheLastMountCounts) {
  const std::string mounts =
      "36 35 0:1 / /dev/shm rw - tmpfs shm rw,size=65536k\n37 35 0:2 / /dev rw shared:1 master:2 - tmpfs dev "
      "rw\n"
      "38 36 0:3 / /dev/shm rw,nosuid shared:9 - nfs4 server:/x rw,vers=4\nbroken\n";
  EXPECT_EQ(mount_at(mounts, "/dev").type, "tmpfs");
  EXPECT_EQ(mount_at(mounts, "/dev/shm").type, "nfs4");
  EXPECT_EQ(mount_at(mounts, "/dev/shm").options, "rw,vers=4");
  EXPECT_EQ(mount_at(mounts, "/mnt").type, "");
}

class SystemSourceTest : public ::testing::Test, protected fixture::FakePrograms {
 protected:
  SourceOutcome run() {
    return run_alone(
        system_source("system", {x_folder / "proc", x_folder / "sys", "gpu-b07", x_workers}, x_names));
  }
  Json document() const { return Json::parse(content(x_bundle / x_files.at(0).path)); }

  std::vector<os::Process> x_workers;
};

TEST_F(SystemSourceTest, TellsOfTheMachineAndItsWorkers) {
  put("proc/sys/kernel/osrelease", "6.8.0\n");
  put("proc/meminfo", "MemTotal:       100 kB\nBuffers: 1 kB\n");
  put("sys/module/nvidia/version", "550.54.15\n");
  put("proc/412/limits", "Max locked memory         65536                65536                bytes     \n");
  put("proc/412/status", "Name:\tpython3\nState:\tD (disk sleep)\nThreads:\t300\n");
  put("proc/412/cgroup", "0::/pod/../../etc\n");
  put("proc/412/mountinfo", "36 35 0:1 / /dev/shm rw - tmpfs shm rw,size=65536k\n");
  put("proc/412/oom_score", "700\n");
  put("sys/fs/cgroup/etc/memory.max", "1000\n");
  put("sys/fs/cgroup/etc/memory.events", "oom 1\noom_kill 1\n");
  put("sys/fs/cgroup/pod/cgroup.procs", "412\n");
  put("sys/etc/memory.max", "outside\n");
  os::Process worker;
  worker.pid = 412;
  worker.name = "python3";
  worker.root = x_folder / "proc/412/root";
  worker.libraries = {"/usr/lib/libcuda.so.535.1"};
  worker.environment = {{"CUDA_VISIBLE_DEVICES", "0,1"}, {"RANK", "3"}};
  x_workers = {worker};
  const auto outcome = run();
  EXPECT_EQ(outcome.status, Status::kAnswered) << outcome.reason;
  const Json got = document();
  EXPECT_EQ(got["schema"], "unhang.system/1");
  EXPECT_EQ(got["machine"], Json::parse(R"({"kernel": "6.8.0", "nvidia_module": "550.54.15",
                                            "memory": {"MemTotal": "100 kB"}})"));
  EXPECT_EQ(got["workers"], Json::parse(R"x([{"pid": 412, "name": "python3",
    "limits": {"Max locked memory": {"soft": "65536", "hard": "65536"}},
    "status": {"State": "D (disk sleep)", "Threads": "300"}, "oom_score": "700", "cgroups": ["pod/../../etc"],
    "shared_memory": {"type": "tmpfs", "options": "rw,size=65536k"},
    "libraries": ["/usr/lib/libcuda.so.535.1"], "visible_devices": {"CUDA_VISIBLE_DEVICES": "0,1"}}])x"));
  EXPECT_EQ(got["cgroups"], Json::parse(R"([{"folder": "pod/../../etc",
    "values": {"memory.max": "1000", "memory.events": "oom 1\noom_kill 1"}}])"))
      << "a path that leads up stays below the control groups";
}

TEST_F(SystemSourceTest, WithoutAnythingItIsADocumentAllTheSame) {
  EXPECT_EQ(run().status, Status::kAnswered);
  EXPECT_EQ(document()["machine"], Json::object());
  EXPECT_EQ(document()["workers"], Json::array());
}

}  // namespace
}  // namespace unhang::collect
