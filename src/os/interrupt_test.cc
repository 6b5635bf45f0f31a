// SPDX-License-Identifier: Apache-2.0
#include "os/interrupt.h"

#include <csignal>

#include <gtest/gtest.h>
#include <poll.h>

namespace unhang::os {
namespace {

bool readable(int fd) {
  pollfd watched{fd, POLLIN, 0};
  return ::poll(&watched, 1, 0) == 1;
}

TEST(Interrupt, IsSeenByPollAndByAsking) {
  const Interrupt interrupt;
  EXPECT_FALSE(interrupt.happened());
  EXPECT_FALSE(readable(interrupt.fd()));
  ASSERT_EQ(std::raise(SIGINT), 0);
  EXPECT_TRUE(interrupt.happened());
  EXPECT_TRUE(readable(interrupt.fd()));
  EXPECT_EQ(interrupt.exit_code(), 128 + SIGINT);
}

TEST(Interrupt, IsForgottenWithItsObject) {
  {
    const Interrupt first;
    ASSERT_EQ(std::raise(SIGTERM), 0);
    EXPECT_EQ(first.exit_code(), 128 + SIGTERM);
  }
  const Interrupt second;
  EXPECT_FALSE(second.happened());
  EXPECT_FALSE(readable(second.fd()));
  EXPECT_EQ(second.exit_code(), 0);
}

TEST(Interrupt, TheEndOfTheTerminalIsOneUnlessIgnored) {
  {
    const Interrupt interrupt;
    ASSERT_EQ(std::raise(SIGHUP), 0);
    EXPECT_EQ(interrupt.exit_code(), 128 + SIGHUP);
  }
  std::signal(SIGHUP, SIG_IGN);
  {
    const Interrupt interrupt;
    ASSERT_EQ(std::raise(SIGHUP), 0);
    EXPECT_FALSE(interrupt.happened());
  }
  EXPECT_EQ(std::signal(SIGHUP, SIG_DFL), SIG_IGN);
}

}  // namespace
}  // namespace unhang::os
