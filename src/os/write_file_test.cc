// SPDX-License-Identifier: Apache-2.0
#include "os/write_file.h"

#include <csignal>
#include <cstdio>
#include <filesystem>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/archive_fixture.h"
#include "os/file_descriptor.h"

namespace unhang::os {
namespace {

using fixture::read_file;
using fixture::TempFolder;
using namespace std::string_literals;

std::size_t files_in(const std::string& folder) {
  return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder), {}));
}

mode_t mode_of(const std::string& path) {
  struct stat status {};
  EXPECT_EQ(::stat(path.c_str(), &status), 0);
  return status.st_mode & 07777;
}

TEST(WriteFile, MakesAndReplacesAFileAndLeavesNothingElse) {
  const TempFolder folder;
  const std::string path = folder.path("out.json");
  ASSERT_TRUE(write_file(path, "first, and longer"));
  EXPECT_EQ(read_file(path), "first, and longer");
  ASSERT_TRUE(write_file(path, "second\0"s));
  EXPECT_EQ(read_file(path), "second\0"s);
  ASSERT_TRUE(write_file(path, ""));
  EXPECT_EQ(read_file(path), "");
  EXPECT_EQ(files_in(folder.path("")), 1u);
}

TEST(WriteFile, PermissionsFollowTheUmaskOrTheFileThatWasThere) {
  const TempFolder folder;
  const mode_t before = ::umask(027);
  ASSERT_TRUE(write_file(folder.path("new"), "x"));
  EXPECT_EQ(mode_of(folder.path("new")), 0640u);
  ASSERT_EQ(::chmod(folder.path("new").c_str(), 0604), 0);
  ASSERT_TRUE(write_file(folder.path("new"), "y"));
  EXPECT_EQ(mode_of(folder.path("new")), 0604u);
  ::umask(before);
}

// The reader of the old file keeps the old file: it was replaced, not overwritten.
TEST(WriteFile, AReaderNeverSeesHalfAFile) {
  const TempFolder folder;
  const std::string path = folder.write("out", "old");
  const std::string other_name = folder.path("other");
  std::filesystem::create_hard_link(path, other_name);
  ASSERT_TRUE(write_file(path, "new"));
  EXPECT_EQ(read_file(other_name), "old");
  EXPECT_EQ(read_file(path), "new");
}

TEST(WriteFile, ALinkIsFollowed) {
  const TempFolder folder;
  folder.write("real/file", "old");
  std::filesystem::create_symlink("real/file", folder.path("link"));
  ASSERT_TRUE(write_file(folder.path("link"), "new"));
  EXPECT_TRUE(std::filesystem::is_symlink(folder.path("link")));
  EXPECT_EQ(read_file(folder.path("real/file")), "new");
}

TEST(WriteFile, ADeviceOrPipeIsWrittenToAndNotReplaced) {
  ASSERT_TRUE(write_file("/dev/null", "x"));
  struct stat status {};
  ASSERT_EQ(::stat("/dev/null", &status), 0);
  EXPECT_TRUE(S_ISCHR(status.st_mode));
  const auto full = write_file("/dev/full", "x");
  ASSERT_FALSE(full);
  EXPECT_EQ(full.error().message, "writing to /dev/full: No space left on device");
}

TEST(WriteFile, FailuresSayWhereAndWhyAndLeaveNothing) {
  const TempFolder folder;
  folder.write("file", "x");
  ASSERT_TRUE(make_folder(folder.path("folder")));
  for (const auto& [name, why] :
       std::vector<std::pair<std::string, std::string>>{{"folder", "Is a directory"},
                                                        {"file/below", "Not a directory"},
                                                        {"missing/file", "No such file or directory"},
                                                        {std::string(300, 'n'), "File name too long"}}) {
    const auto out = write_file(folder.path(name), "bytes");
    ASSERT_FALSE(out) << name;
    EXPECT_EQ(out.error().code, base::ErrorCode::kIo);
    EXPECT_EQ(out.error().message.find("writing " + folder.path(name)), 0u) << out.error().message;
    EXPECT_NE(out.error().message.find(why), std::string::npos) << out.error().message;
  }
  EXPECT_EQ(files_in(folder.path("")), 2u);
}

TEST(WriteFile, DashIsStdout) {
  const TempFolder folder;
  folder.write("out", "");
  const int fd = ::open(folder.path("out").c_str(), O_WRONLY);
  const FileDescriptor out(fd);
  {
    const fixture::SwappedDescriptor swapped(STDOUT_FILENO, out.get());
    std::printf("before ");
    ASSERT_TRUE(write_file("-", "and after"));
  }
  EXPECT_EQ(read_file(folder.path("out")), "before and after");
}

TEST(WriteFile, AReaderOfStdoutThatWentAwayIsNoError) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  ::close(ends[0]);
  const FileDescriptor writing(ends[1]);
  std::fflush(stdout);
  sigset_t before;
  ::pthread_sigmask(SIG_SETMASK, nullptr, &before);
  {
    const fixture::SwappedDescriptor swapped(STDOUT_FILENO, writing.get());
    EXPECT_TRUE(write_file("-", "nobody listens"));  // would kill the test
  }
  sigset_t after;
  ::pthread_sigmask(SIG_SETMASK, nullptr, &after);
  EXPECT_EQ(sigismember(&after, SIGPIPE), sigismember(&before, SIGPIPE));
  sigset_t pending;
  ::sigpending(&pending);
  EXPECT_EQ(sigismember(&pending, SIGPIPE), 0);
}

TEST(WriteFile, AStdoutThatIsFullIsAnError) {
  const FileDescriptor full(::open("/dev/full", O_WRONLY));
  std::fflush(stdout);
  const fixture::SwappedDescriptor swapped(STDOUT_FILENO, full.get());
  const auto out = write_file("-", "x");
  ASSERT_FALSE(out);
  EXPECT_EQ(out.error().message, "writing to stdout: No space left on device");
}

TEST(MakeFolder, MakesWhatIsMissingAndIsFineWithWhatIsThere) {
  const TempFolder folder;
  ASSERT_TRUE(make_folder(folder.path("a/b/c")));
  EXPECT_TRUE(std::filesystem::is_directory(folder.path("a/b/c")));
  EXPECT_TRUE(make_folder(folder.path("a/b/c")));
  EXPECT_TRUE(make_folder(folder.path("a/b/c/")));
  EXPECT_TRUE(make_folder("/"));
  EXPECT_TRUE(make_folder("."));
}

TEST(MakeFolder, AFileInTheWayIsAnError) {
  const TempFolder folder;
  const std::string file = folder.write("file", "x");
  for (const std::string& path : {file, file + "/below"}) {
    const auto out = make_folder(path);
    ASSERT_FALSE(out);
    EXPECT_EQ(out.error().message, "making the folder " + file + ": Not a directory");
  }
  EXPECT_FALSE(make_folder(""));
}

}  // namespace
}  // namespace unhang::os
