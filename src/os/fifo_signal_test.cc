// SPDX-License-Identifier: Apache-2.0
#include "os/fifo_signal.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

namespace unhang::os {
namespace {

namespace fs = std::filesystem;

class FifoSignalTest : public ::testing::Test {
 protected:
  FifoSignalTest() {
    std::string name = fs::temp_directory_path() / "unhang-fifo-XXXXXX";
    x_folder = ::mkdtemp(name.data());
    fs::create_directories(x_folder / "root/tmp");
    x_pipe = x_folder / "root/tmp/p3.pipe";
  }
  ~FifoSignalTest() override { fs::remove_all(x_folder); }
  std::string trouble(const std::string& root, const std::string& path, std::int64_t owner) const {
    const auto sent = signal_fifo(root, path, owner);
    return sent ? "" : sent.error().message;
  }

  fs::path x_folder, x_pipe;
  const std::int64_t x_me = static_cast<std::int64_t>(::getuid());
};

TEST_F(FifoSignalTest, WritesOneByteForWhoReads) {
  ASSERT_EQ(::mkfifo(x_pipe.c_str(), 0666), 0);
  const int reader = ::open(x_pipe.c_str(), O_RDONLY | O_NONBLOCK);
  EXPECT_EQ(trouble(x_folder / "root", "/tmp/p3.pipe", x_me), "");
  EXPECT_EQ(trouble("", x_pipe, x_me), "");
  char got[8];
  EXPECT_EQ(::read(reader, got, sizeof got), 2);
  EXPECT_EQ(got[0], '1');
  ::close(reader);
}

TEST_F(FifoSignalTest, NobodyReads) {
  ASSERT_EQ(::mkfifo(x_pipe.c_str(), 0666), 0);
  EXPECT_EQ(trouble("", x_pipe, x_me),
            x_pipe.string() + ": nobody reads it: its process has ended or has no watchdog");
}

TEST_F(FifoSignalTest, CreatesNothingAndWritesIntoNothingElse) {
  EXPECT_EQ(signal_fifo("", x_pipe, x_me).error().code, base::ErrorCode::kNoInput);
  EXPECT_FALSE(fs::exists(x_pipe));
  std::ofstream(x_pipe).close();
  EXPECT_EQ(trouble("", x_pipe, x_me), x_pipe.string() + ": it is no named pipe");
  EXPECT_EQ(fs::file_size(x_pipe), 0u);
}

TEST_F(FifoSignalTest, LinksAndPipesOfOthersAreNotWritten) {
  ASSERT_EQ(::mkfifo(x_pipe.c_str(), 0666), 0);
  const int reader = ::open(x_pipe.c_str(), O_RDONLY | O_NONBLOCK);
  fs::create_symlink(x_pipe, x_folder / "root/link.pipe");
  fs::create_symlink(x_folder / "root/tmp", x_folder / "root/folder");
  EXPECT_NE(trouble("", x_folder / "root/link.pipe", x_me), "");
  EXPECT_NE(trouble(x_folder / "root", "/folder/p3.pipe", x_me), "")
      << "a link on the way of a stranger's file system";
  EXPECT_EQ(trouble("", x_pipe, x_me + 1), x_pipe.string() + ": it belongs to another user than the process");
  EXPECT_EQ(trouble("", x_pipe, -1), x_pipe.string() + ": it belongs to another user than the process");
  char got = 0;
  EXPECT_LE(::read(reader, &got, 1), 0);
  ::close(reader);
}

}  // namespace
}  // namespace unhang::os
