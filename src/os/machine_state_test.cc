// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "os/clock_state.h"
#include "os/memory_folder.h"
#include "os/system_call_name.h"

namespace unhang::os {
namespace {

TEST(ClockState, Answers) {
  const ClockState state = clock_state();
  if (!state.known) GTEST_SKIP() << "adjtimex is not allowed here";
  EXPECT_GE(state.maximum_error_us, 0);
}

TEST(MemoryFolder, OnlyATmpfsIsAsked) {
  EXPECT_FALSE(memory_folder_room("/", "proc"));
  EXPECT_FALSE(memory_folder_room("/", "no/such/folder"));
  EXPECT_FALSE(memory_folder_room("/no/such/root", "dev/shm"));
  if (const auto room = memory_folder_room("/", "dev/shm")) {
    EXPECT_GE(room->bytes, room->free_bytes);
  }
}

TEST(SystemCallName, OfThoseThatProcessesWaitIn) {
#if defined(__x86_64__)
  EXPECT_EQ(system_call_name(202), "futex");
  EXPECT_EQ(system_call_name(7), "poll");
#endif
  EXPECT_EQ(system_call_name(99'999), "system call 99999");
}

}  // namespace
}  // namespace unhang::os
