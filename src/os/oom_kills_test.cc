// SPDX-License-Identifier: Apache-2.0
#include "os/oom_kills.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "os/temporary_folder.h"

namespace unhang::os {
namespace {

class OomKills : public testing::Test {
 protected:
  void write(const std::string& path, const std::string& text) const {
    const std::filesystem::path file = x_folder.path() + "/" + path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  std::optional<std::int64_t> count() const {
    return count_oom_kills(x_folder.path() + "/proc", x_folder.path() + "/sys");
  }
  TemporaryFolder x_folder = TemporaryFolder::make().value();
};

TEST_F(OomKills, OfTheGroupWeAreIn) {
  EXPECT_EQ(count(), std::nullopt);
  write("proc/self/cgroup", "0::/a/b\n");
  write("sys/fs/cgroup/memory.events", "low 0\noom 9\noom_kill 9\n");
  EXPECT_EQ(count(), 9) << "a container: its own group is mounted at the top";
  write("sys/fs/cgroup/a/b/memory.events", "low 0\nhigh 0\nmax 5\noom 2\noom_kill 2\noom_group_kill 0\n");
  EXPECT_EQ(count(), 2);
}

TEST_F(OomKills, OfTheFirstKindOfControlGroups) {
  write("proc/self/cgroup", "12:cpu,cpuacct:/x\n7:memory:/x/y\n0::/x\n");
  write("sys/fs/cgroup/memory/x/y/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 3\n");
  EXPECT_EQ(count(), 3);
}

TEST_F(OomKills, WhatIsNoCount) {
  write("proc/self/cgroup", "0::/\nnonsense\n");
  write("sys/fs/cgroup/memory.events", "oom_kill many\noom_kill_x 3\n");
  EXPECT_EQ(count(), std::nullopt);
}

}  // namespace
}  // namespace unhang::os
