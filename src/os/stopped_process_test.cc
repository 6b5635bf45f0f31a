// SPDX-License-Identifier: Apache-2.0
#include "os/stopped_process.h"

#include <csignal>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace unhang::os {
namespace {

using namespace std::chrono_literals;

TEST(StoppedProcess, IsContinuedAndOthersAreLeftAlone) {
  const pid_t child = ::fork();
  if (child == 0) {
    for (;;) ::pause();
  }
  EXPECT_FALSE(continue_stopped(child, 0ms));
  ASSERT_EQ(::kill(child, SIGSTOP), 0);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, WUNTRACED), child);
  EXPECT_EQ(state_of_process(child), 'T');
  EXPECT_TRUE(continue_stopped(child, 0ms));
  ASSERT_EQ(::waitpid(child, &status, WCONTINUED), child);
  EXPECT_NE(state_of_process(child), 'T');
  ::kill(child, SIGKILL);
  ::waitpid(child, &status, 0);
  EXPECT_EQ(state_of_process(child), '\0');
  EXPECT_FALSE(continue_stopped(child, 0ms));
}

}  // namespace
}  // namespace unhang::os
