// SPDX-License-Identifier: Apache-2.0
#include "os/paced_output.h"

#include <csignal>
#include <string>
#include <thread>

#include <gtest/gtest.h>
#include <unistd.h>

namespace unhang::os {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

TEST(PacedOutput, WritesAllWhereItIsRead) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const std::string bytes(1 << 20, 'x');
  std::size_t taken = 0;
  std::thread reader([&] {
    char piece[4096];
    for (ssize_t got = 0; (got = ::read(ends[0], piece, sizeof piece)) > 0;) taken += got;
  });
  EXPECT_TRUE(write_until(ends[1], bytes, Clock::now() + 60s));
  ::close(ends[1]);
  reader.join();
  ::close(ends[0]);
  EXPECT_EQ(taken, bytes.size());
}

TEST(PacedOutput, GivesUpAtTheDeadlineAndWhereTheReaderIsGone) {
  std::signal(SIGPIPE, SIG_IGN);  // as this program does
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const std::string bytes(1 << 20, 'x');
  EXPECT_FALSE(write_until(ends[1], bytes, Clock::now() + 100ms)) << "nobody reads";
  EXPECT_FALSE(write_until(ends[1], "x", Clock::now() - 1ms));
  ::close(ends[0]);
  EXPECT_FALSE(write_until(ends[1], "x", Clock::now() + 60s));
  ::close(ends[1]);
}

}  // namespace
}  // namespace unhang::os
