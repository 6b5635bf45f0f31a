// SPDX-License-Identifier: Apache-2.0
#include "os/descendants.h"

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace unhang::os {
namespace {

class FakeProc {
 public:
  FakeProc()
      : x_path(std::filesystem::temp_directory_path() / ("descendants-" + std::to_string(::getpid()))) {
    std::filesystem::create_directories(x_path);
  }
  ~FakeProc() { std::filesystem::remove_all(x_path); }
  void add(int pid, int parent, const std::string& name, char state = 'S') const {
    std::filesystem::create_directories(x_path / std::to_string(pid));
    std::ofstream(x_path / std::to_string(pid) / "stat")
        << pid << " (" << name << ") " << state << " " << parent
        << " 1 1 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 " << 1000 + pid << " 1000 100 1\n";
  }
  std::string path() const { return x_path.string(); }

 private:
  std::filesystem::path x_path;
};

std::vector<std::int64_t> pids(const std::vector<Descendant>& list) {
  std::vector<std::int64_t> out;
  for (const Descendant& process : list) out.push_back(process.pid);
  return out;
}

TEST(Descendants, AreAllBelowAndNobodyElse) {
  const FakeProc proc;
  proc.add(10, 1, "job");
  proc.add(12, 10, "a ) S 99 name");
  proc.add(13, 12, "grandchild", 'D');
  proc.add(14, 13, "gone", 'Z');
  proc.add(20, 1, "other");
  proc.add(100, 20, "of other");
  const auto below = descendants_of(10, proc.path());
  ASSERT_EQ(pids(below), (std::vector<std::int64_t>{12, 13, 14}));
  EXPECT_EQ(below[0].name, "a ) S 99 name");
  EXPECT_EQ(below[0].parent, 10);
  EXPECT_EQ(below[1].state, 'D');
  EXPECT_EQ(below[1].started, 1013u);
  EXPECT_FALSE(below[1].has_ended());
  EXPECT_TRUE(below[2].has_ended());
}

TEST(Descendants, ACircleEnds) {
  const FakeProc proc;
  proc.add(10, 12, "job");
  proc.add(12, 10, "a");
  EXPECT_EQ(pids(descendants_of(10, proc.path())), (std::vector<std::int64_t>{12}));
}

TEST(Descendants, NoProcIsNobody) {
  EXPECT_TRUE(descendants_of(1, "/nonexistent").empty());
}

TEST(Descendants, ASignalGoesToTheSameProcessOnly) {
  const pid_t child = ::fork();
  if (child == 0) {
    for (;;) ::pause();
  }
  const auto below = descendants_of(::getpid());
  const auto found = std::find_if(below.begin(), below.end(), [&](const auto& p) { return p.pid == child; });
  ASSERT_NE(found, below.end());
  Descendant earlier = *found;
  earlier.started -= 1;  // as if its id had been given to another one since
  EXPECT_FALSE(send_signal(earlier, SIGKILL));
  EXPECT_TRUE(send_signal(*found, 0));
  EXPECT_TRUE(send_signal(*found, SIGKILL));
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_FALSE(send_signal(*found, 0));
}

}  // namespace
}  // namespace unhang::os
