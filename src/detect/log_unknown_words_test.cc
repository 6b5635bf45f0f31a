// SPDX-License-Identifier: Apache-2.0
//
// Of warnings in unknown words and of transfers that no reader of communication sees, little follows.
#include <gtest/gtest.h>

#include "detect/log_case_for_tests.h"

namespace unhang::detect {
namespace {

using model::LogEventKind;

TEST(LogOtherWarning, TellsTheStageAndNoMore) {
  LogCase start;
  start.says(LogEventKind::kOtherWarning, {.detail = "NET/OFI Couldn't open AV. RC: -22"});
  EXPECT_EQ(start.told(find_log_other_warning), "initialization_hang/unknown low (tentative)");
  LogCase later;
  later.give_up({0, 1}).says(LogEventKind::kOtherWarning, {.detail = "NET/OFI Request completed with error"});
  EXPECT_EQ(later.told(find_log_other_warning), "transport_stall/unknown low (tentative)");
}

TEST(LogOtherWarning, OfAJobThatRunsIsNone) {
  LogCase c;
  c.communicator({.rank = 0, .ranks = 1});
  c.says(LogEventKind::kOtherWarning, {.detail = "tuner: no table"});
  EXPECT_EQ(c.told(find_log_other_warning), "nothing");
}

TEST(LogOtherWarning, StandsBehindWhatIsKnown) {
  LogCase c;
  c.says(LogEventKind::kOtherWarning, {.detail = "x"}).says(LogEventKind::kSharedMemoryFailed, {.code = 28});
  EXPECT_EQ(c.verdict().substr(0, 33), "initialization_hang/shm_exhausted");
}

TEST(LogCacheTransfer, IsOutsideOfWhatIsWatched) {
  LogCase c;
  c.says(LogEventKind::kCacheTransferFailed, {.detail = "KVTransferError"});
  EXPECT_EQ(c.told(find_log_cache_transfer), "not_communication/outside_coverage low (tentative)");
}

TEST(LogCacheTransfer, StandsBehindATimeOutWithAReason) {
  LogCase c;
  c.says(LogEventKind::kCacheTransferFailed).says(LogEventKind::kXid, {.code = 79, .subject = "0000:b3:00"});
  EXPECT_EQ(c.verdict().substr(0, 48), "process_or_device_unavailable/gpu_fallen_off_bus");
}

TEST(LogCacheTransfer, RequestsThatEndAreNone) {
  LogCase c;
  c.says(LogEventKind::kRequestProgress, {.code = 1});
  EXPECT_EQ(c.told(find_log_cache_transfer), "nothing");
}

}  // namespace
}  // namespace unhang::detect
