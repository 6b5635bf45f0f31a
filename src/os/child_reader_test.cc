// SPDX-License-Identifier: Apache-2.0
#include "os/child_reader.h"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <thread>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace unhang::os {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

class ChildReader : public ::testing::Test {
 protected:
  ChildReader() {
    std::string name = fs::temp_directory_path() / "unhang-child-XXXXXX";
    x_folder = ::mkdtemp(name.data());
  }
  ~ChildReader() override { fs::remove_all(x_folder); }

  std::string put(const std::string& name, const std::string& bytes) {
    fs::create_directories((x_folder / name).parent_path());
    std::ofstream(x_folder / name, std::ios::binary) << bytes;
    return x_folder / name;
  }

  static constexpr ReadDeadlines kGenerous{.still = 60s};
  fs::path x_folder;
};

TEST_F(ChildReader, ReadsWholeFilesInOrder) {
  const std::string large(300'000, 'x');
  const std::vector<ReadRequest> requests{{.path = put("a", "hello"), .max_bytes = 100},
                                          {.path = x_folder / "missing"},
                                          {.path = put("b", large)},
                                          {.path = put("c", "")}};
  const auto replies = read_in_child(requests, kGenerous);
  ASSERT_EQ(replies.size(), 4u);
  EXPECT_EQ(replies[0].end, ReadEnd::kWhole);
  EXPECT_EQ(replies[0].bytes, "hello");
  EXPECT_EQ(replies[0].size, 5);
  EXPECT_TRUE(replies[0].is_regular);
  EXPECT_EQ(replies[0].owner, static_cast<std::int64_t>(::getuid()));
  EXPECT_GT(replies[0].modified_ns, 1'600'000'000'000'000'000);
  EXPECT_EQ(replies[1].end, ReadEnd::kFailed);
  EXPECT_EQ(replies[1].error, ENOENT);
  EXPECT_EQ(reason_text(replies[1]), "No such file or directory");
  EXPECT_EQ(replies[2].bytes, large);
  EXPECT_EQ(replies[3].end, ReadEnd::kWhole);
  EXPECT_EQ(replies[3].bytes, "");
}

TEST_F(ChildReader, CutsAtTheLimitAndNotBefore) {
  const std::vector<ReadRequest> requests{{.path = put("a", "12345"), .max_bytes = 5},
                                          {.path = put("b", "123456"), .max_bytes = 5}};
  const auto replies = read_in_child(requests, kGenerous);
  EXPECT_EQ(replies[0].end, ReadEnd::kWhole);
  EXPECT_EQ(replies[1].end, ReadEnd::kCut);
  EXPECT_EQ(replies[1].bytes, "12345");
  EXPECT_EQ(replies[1].size, 6);
}

TEST_F(ChildReader, ReadsOnlyTheEnd) {
  const std::vector<ReadRequest> requests{{.path = put("a", "123456"), .last_bytes = 2},
                                          {.path = put("b", "123456"), .last_bytes = 6},
                                          {.path = put("c", "123456"), .last_bytes = 100}};
  const auto replies = read_in_child(requests, kGenerous);
  EXPECT_EQ(replies[0].bytes, "56");
  EXPECT_EQ(replies[0].end, ReadEnd::kWhole);
  EXPECT_EQ(replies[1].bytes, "123456");
  EXPECT_EQ(replies[2].bytes, "123456");
}

TEST_F(ChildReader, ListsAFolder) {
  put("d/one", "");
  put("d/two", "");
  const auto reply = read_in_child(ReadRequest{.kind = ReadKind::kFolder, .path = x_folder / "d"}, kGenerous);
  EXPECT_EQ(reply.end, ReadEnd::kWhole);
  std::set<std::string> names;
  for (std::size_t at = 0; at < reply.bytes.size(); at = reply.bytes.find('\0', at) + 1)
    names.insert(reply.bytes.c_str() + at);
  EXPECT_EQ(names, (std::set<std::string>{"one", "two"}));
}

TEST_F(ChildReader, ReadsALinkItself) {
  fs::create_symlink("somewhere", x_folder / "l");
  const auto reply = read_in_child(ReadRequest{.kind = ReadKind::kLink, .path = x_folder / "l"}, kGenerous);
  EXPECT_EQ(reply.bytes, "somewhere");
}

TEST_F(ChildReader, DoesNotReadFromPipesAndDevices) {
  ASSERT_EQ(::mkfifo((x_folder / "pipe").c_str(), 0600), 0);
  const std::vector<ReadRequest> requests{{.path = x_folder / "pipe"}, {.path = "/dev/zero"}};
  for (const ReadReply& reply : read_in_child(requests, kGenerous)) {
    EXPECT_EQ(reply.end, ReadEnd::kWhole);
    EXPECT_FALSE(reply.is_regular);
    EXPECT_EQ(reply.bytes, "");
  }
}

// What lies in another's file system must not lead out of it.
TEST_F(ChildReader, NothingLeadsOutOfTheRoot) {
  put("secret", "outside");
  put("root/secret", "inside");
  put("root/tmp/dump", "dump");
  fs::create_symlink("/secret", x_folder / "root/absolute");
  fs::create_symlink("../../../../../../secret", x_folder / "root/tmp/relative");
  fs::create_symlink(x_folder / "secret", x_folder / "root/planted");
  const std::string root = x_folder / "root";
  const auto read = [&](const std::string& path, bool follow = true) {
    return read_in_child(ReadRequest{.root = root, .path = path, .follow_last = follow}, kGenerous);
  };
  EXPECT_EQ(read("/tmp/dump").bytes, "dump");
  EXPECT_NE(read("/../secret").bytes, "outside");
  EXPECT_NE(read("/absolute").bytes, "outside");
  EXPECT_NE(read("/tmp/relative").bytes, "outside");
  EXPECT_EQ(read("/planted").end, ReadEnd::kFailed);
  EXPECT_EQ(read("/absolute", false).bytes, "");
}

// A plain file that blocks while it is read is not to be had in a test; a stopped child is the same to the
// parent. Its SIGSTOP comes from a thread that looks for it.
TEST_F(ChildReader, AbandonsAChildThatStandsStill) {
  const std::string large = put("large", std::string(64 << 20, 'x'));
  std::vector<ReadRequest> requests{{.path = large, .max_bytes = 1 << 30, .group = 1},
                                    {.path = put("same", "of the same process"), .group = 1},
                                    {.path = put("other", "of another"), .group = 2}};
  std::vector<ReadReply> replies(3);
  bool stopped = false;
  read_in_child(
      requests, {.still = 2s},
      [&](std::size_t request, std::string_view piece) {
        if (request != 0) {
          replies[request].bytes += piece;
          return;
        }
        if (stopped) return;
        std::ifstream children("/proc/self/task/" + std::to_string(::gettid()) + "/children");
        pid_t child = 0;
        children >> child;
        if (child > 0) stopped = ::kill(child, SIGSTOP) == 0;
      },
      [&](std::size_t request, ReadReply reply) {
        reply.bytes += replies[request].bytes;
        replies[request] = std::move(reply);
      });
  if (!stopped) GTEST_SKIP() << "the kernel does not list children";
  EXPECT_EQ(replies[0].end, ReadEnd::kStuck);
  EXPECT_EQ(replies[1].end, ReadEnd::kNotTried);
  EXPECT_EQ(replies[2].end, ReadEnd::kWhole);
  EXPECT_EQ(replies[2].bytes, "of another");
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1) << "a child is left";
}

TEST_F(ChildReader, TriesNothingAfterTheEnd) {
  const auto reply = read_in_child(ReadRequest{.path = put("a", "x")},
                                   {.still = 1s, .end = std::chrono::steady_clock::now() - 1s});
  EXPECT_EQ(reply.end, ReadEnd::kNotTried);
  EXPECT_EQ(reply.bytes, "");
}

TEST_F(ChildReader, LeavesNoDescriptorsAndNoChildren) {
  const auto open_now = [] {
    return std::distance(fs::directory_iterator("/proc/self/fd"), fs::directory_iterator{});
  };
  const std::string file = put("a", "x");
  const auto before = open_now();
  for (int i = 0; i < 20; ++i) EXPECT_EQ(read_in_child(ReadRequest{.path = file}, kGenerous).bytes, "x");
  EXPECT_EQ(open_now(), before);
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
}

}  // namespace
}  // namespace unhang::os
