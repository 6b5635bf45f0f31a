// SPDX-License-Identifier: Apache-2.0
//
// A job that does not start, and hosts that stand, as logs tell of them.
#include <gtest/gtest.h>

#include "detect/log_case_for_tests.h"

namespace unhang::detect {
namespace {

using model::CommunicatorPhase;
using model::LogEventKind;

// --- log_init_fault ---

TEST(LogInitFault, EachLineAloneIsTheCause) {
  const std::vector<std::tuple<LogEventKind, std::string, std::string>> rows = {
      {LogEventKind::kDriverMismatch, "driver_library_mismatch", "medium"},
      {LogEventKind::kDuplicateGpu, "duplicate_gpu", "medium"},
      {LogEventKind::kNcclVersionMismatch, "version_mismatch", "medium"},
      {LogEventKind::kBootstrapTruncated, "version_mismatch", "low"},
      {LogEventKind::kSharedMemoryFailed, "shm_exhausted", "medium"},
      {LogEventKind::kInterfaceMissing, "interface_mismatch", "medium"},
      {LogEventKind::kMemoryLock, "device_not_accessible", "low"},
      {LogEventKind::kDeviceNotAccessible, "device_not_accessible", "low"},
      {LogEventKind::kDuplicateRank, "group_mismatch", "medium"},
      {LogEventKind::kRankCountMismatch, "group_mismatch", "medium"},
      {LogEventKind::kNetDeviceMismatch, "plugin_mismatch", "low"},
      {LogEventKind::kAddressInUse, "store_unreachable", "medium"},
      {LogEventKind::kDeviceUnavailable, "device_not_accessible", "low"},
      {LogEventKind::kRacingThreads, "group_mismatch", "low"},
  };
  for (const auto& [kind, cause, strength] : rows) {
    LogCase c;
    c.by({.host = "node1"}).says(kind);
    EXPECT_EQ(c.told(find_log_init_fault), "initialization_hang/" + cause + " " + strength)
        << model::name_of(kind);
  }
}

TEST(LogInitFault, SaysWho) {
  LogCase c;
  c.by({.host = "node1"}).says(LogEventKind::kDuplicateGpu, {.code = 3, .rank = 1, .subject = "1c000"});
  EXPECT_EQ(c.diagnosed().headline, "ranks 1 and 3 were given the same GPU (bus id 1c000) (on node1)");
  LogCase interface;
  interface.by({.host = "node1"}).says(LogEventKind::kInterfaceMissing, {.subject = "eth7"});
  EXPECT_EQ(interface.diagnosed().headline,
            "NCCL finds no network interface: NCCL_SOCKET_IFNAME does not name one of that host (eth7) (on "
            "node1)");
}

TEST(LogInitFault, TheDriverExplainsWhatFollows) {
  LogCase c;
  c.says(LogEventKind::kDeviceUnavailable).says(LogEventKind::kDriverMismatch);
  EXPECT_EQ(c.verdict(), "initialization_hang/driver_library_mismatch medium");
}

// A restart finds its port taken, or a child no GPU, after a job that had run.
TEST(LogInitFault, LateWordsAreAboutSomethingElse) {
  LogCase c;
  c.give_up({0, 1}).says(LogEventKind::kAddressInUse).says(LogEventKind::kDeviceUnavailable);
  EXPECT_EQ(c.told(find_log_init_fault), "nothing");
}

TEST(LogInitFault, WhatLooksLikeIt) {
  LogCase c;
  c.says(LogEventKind::kPluginMissing).says(LogEventKind::kNoHca).says(LogEventKind::kSysfsMissing);
  c.says(LogEventKind::kPeerAccessDisabled).says(LogEventKind::kEnvironment, {.subject = "NCCL_DEBUG"});
  c.says(LogEventKind::kMnnvl).says(LogEventKind::kInterfaceChosen, {.subject = "eth0"});
  EXPECT_EQ(c.told(find_log_init_fault), "nothing");
}

// --- log_store ---

TEST(LogStore, AKeyThatNobodyPut) {
  LogCase c;
  for (const int rank : {1, 2, 3})
    c.by_rank(rank).says(LogEventKind::kStoreKeyMissing, {.code = 0, .rank = rank});
  EXPECT_EQ(c.told(find_log_store), "initialization_hang/rank_never_joined low: rank 0");
  LogCase one;  // whose network may be at fault
  one.by_rank(1).says(LogEventKind::kStoreKeyMissing, {.code = 0, .rank = 1});
  EXPECT_EQ(one.told(find_log_store), "initialization_hang/rank_never_joined low ? rank 0");
  LogCase unnamed;
  unnamed.by_rank(1).says(LogEventKind::kStoreKeyMissing, {.code = -1, .rank = 1});
  EXPECT_EQ(unnamed.told(find_log_store), "initialization_hang/rank_never_joined low");
}

TEST(LogStore, Unreachable) {
  LogCase once;  // a warning of one attempt, which is repeated
  once.says(LogEventKind::kStoreUnreachable, {.code = 110, .peer = "node0:29500"});
  EXPECT_EQ(once.told(find_log_store), "initialization_hang/store_unreachable low");
  LogCase given_up;
  given_up.says(LogEventKind::kStoreUnreachable,
                {.code = 110, .peer = "node0:29500", .text = "has timed out after"});
  EXPECT_EQ(given_up.told(find_log_store), "initialization_hang/store_unreachable medium");
  LogCase rendezvous;
  rendezvous.says(LogEventKind::kRendezvousFailed, {.peer = "node0:29500"});
  EXPECT_EQ(rendezvous.told(find_log_store), "initialization_hang/store_unreachable medium");
}

TEST(LogStore, ABarrierThatNamesWhoIsMissing) {
  LogCase c;
  c.by_rank(0).says(LogEventKind::kMonitoredBarrier, {.detail = "3,11"});
  EXPECT_EQ(c.told(find_log_store), "initialization_hang/rank_never_joined medium: rank 3, rank 11");
  c.communicator({.rank = 0, .ranks = 16});
  EXPECT_EQ(c.told(find_log_store), "collective_desync/rank_not_entered medium: rank 3, rank 11");
}

TEST(LogStore, AWaitThatNamesNobody) {
  LogCase c;
  c.by_rank(0).says(LogEventKind::kStoreTimeout, {.detail = "worker/3"});
  EXPECT_EQ(c.told(find_log_store), "initialization_hang/rank_never_joined low");
}

TEST(LogStore, Gloo) {
  LogCase c;
  c.by_rank(0).says(LogEventKind::kGlooConnectFailed, {.peer = "10.0.0.2"});
  EXPECT_EQ(c.told(find_log_store), "initialization_hang/bootstrap_unreachable medium");
  LogCase loopback;
  loopback.by_rank(0).says(LogEventKind::kGlooConnectFailed, {.peer = "127.0.1.1"});
  EXPECT_EQ(loopback.told(find_log_store), "initialization_hang/interface_mismatch medium");
}

TEST(LogStore, WhatLooksLikeIt) {
  LogCase c;  // the store goes first when a job ends, and when a watchdog ends it
  c.says(LogEventKind::kStoreClosed).says(LogEventKind::kTrainingEnd);
  EXPECT_EQ(c.told(find_log_store), "nothing");
  LogCase after;
  after.give_up({0, 1}).says(LogEventKind::kStoreUnreachable, {.peer = "node0:29500"});
  EXPECT_EQ(after.told(find_log_store), "nothing");
}

// --- log_init_hang ---

TEST(LogInitHang, ARankThatNeverCheckedIn) {
  LogCase c;
  LogCase together;
  for (const int rank : {0, 1, 3}) {
    c.file("rank" + std::to_string(rank) + ".log")
        .by({.host = "node1", .pid = 10 + rank, .global_rank = rank});
    c.communicator({.rank = rank, .ranks = 4, .reached = CommunicatorPhase::kStarted});
    together.by({.host = "node1", .pid = 10 + rank, .global_rank = rank});
    together.communicator({.rank = rank, .ranks = 4, .reached = CommunicatorPhase::kStarted});
  }
  EXPECT_EQ(c.told(find_log_init_hang), "initialization_hang/rank_never_joined low: rank 2");
  // Where its neighbours on both sides write, its lines would stand, too.
  EXPECT_EQ(together.told(find_log_init_hang), "initialization_hang/rank_never_joined medium: rank 2");
  c.by({.host = "node2", .pid = 12, .global_rank = 2}).says(LogEventKind::kDataLoading);
  // Its own log is there and tells of no communicator: that is no gap in the evidence.
  EXPECT_EQ(c.told(find_log_init_hang), "initialization_hang/rank_never_joined medium: rank 2");
}

TEST(LogInitHang, OfManyMissingNobodyIsNamed) {
  LogCase c;
  for (const int rank : {0, 1, 2, 3, 6}) {
    c.by({.host = "node1", .pid = 10 + rank, .global_rank = rank});
    c.communicator({.rank = rank, .ranks = 8, .reached = CommunicatorPhase::kStarted});
  }
  EXPECT_EQ(c.told(find_log_init_hang), "initialization_hang/rank_never_joined low ? rank 4, rank 5, rank 7");
}

TEST(LogInitHang, AllCameAndNobodyCompleted) {
  LogCase c;
  for (const int rank : {0, 1}) {
    c.by({.host = "node1", .pid = 10 + rank});
    c.communicator({.rank = rank,
                    .ranks = 2,
                    .reached = rank == 0 ? CommunicatorPhase::kConnecting : CommunicatorPhase::kTopology});
  }
  const auto found = c.run(find_log_init_hang);
  EXPECT_EQ(LogCase::tell(found), "initialization_hang/unknown low");
  EXPECT_EQ(
      found[0].headline,
      "2 ranks began communicator commId 0xabc and never completed it; the slowest stands after looking "
      "at the topology");
}

// A piece of a log that ends while few of many ranks have begun does not show that anything stood.
TEST(LogInitHang, APieceThatJustEndsThere) {
  LogCase c;
  c.by({.host = "node1", .pid = 10}).at(0);
  c.communicator({.rank = 0, .ranks = 8, .reached = CommunicatorPhase::kConnecting});
  EXPECT_EQ(c.told(find_log_init_hang), "nothing");
  c.log().last = {model::LogClock::kUtc, LogCase::kStart + 300 * LogCase::kSecond};  // time went by
  EXPECT_EQ(c.told(find_log_init_hang), "initialization_hang/rank_never_joined low");
}

TEST(LogInitHang, AStartUpThatSaysNoEnd) {
  LogCase c;
  c.says(LogEventKind::kDistributedInitBegin);
  EXPECT_EQ(c.told(find_log_init_hang), "initialization_hang/unknown low (tentative)");
}

TEST(LogInitHang, WhatLooksLikeIt) {
  LogCase complete;
  for (const int rank : {0, 1}) {
    complete.by({.host = "node1", .pid = 10 + rank});
    complete.communicator({.rank = rank, .ranks = 2});
  }
  EXPECT_EQ(complete.told(find_log_init_hang), "nothing");
  LogCase ended;
  ended.says(LogEventKind::kDistributedInitBegin).says(LogEventKind::kDistributedInitEnd);
  EXPECT_EQ(ended.told(find_log_init_hang), "nothing");
  LogCase went_on;
  went_on.says(LogEventKind::kDistributedInitBegin).says(LogEventKind::kWeightLoading);
  EXPECT_EQ(went_on.told(find_log_init_hang), "nothing");
  LogCase left_behind;
  left_behind.communicator({.rank = 0, .ranks = 2, .reached = CommunicatorPhase::kStarted});
  left_behind.says(LogEventKind::kTrainingEnd);
  EXPECT_EQ(left_behind.told(find_log_init_hang), "nothing");
}

// --- log_stuck_host ---

TEST(LogStuckHost, TheWatchdogItself) {
  LogCase c;
  c.by_rank(2).says(LogEventKind::kWatchdogStuck, {.code = 480});
  EXPECT_EQ(c.told(find_log_stuck_host),
            "process_or_device_unavailable/gpu_not_progressing low ? rank 2 (tentative)");
  c.says(LogEventKind::kInterpreterLock);
  EXPECT_EQ(c.told(find_log_stuck_host).substr(0, 49), "process_or_device_unavailable/process_stopped low");
}

TEST(LogStuckHost, AnEngineThatWaitsForItsWorker) {
  for (const LogEventKind kind :
       {LogEventKind::kEngineWaitsForWorker, LogEventKind::kEngineTimeout, LogEventKind::kEngineWatchdog}) {
    LogCase c;
    c.by({.label = "EngineCore_DP0"}).says(kind, {.code = 60});
    const auto found = c.run(find_log_stuck_host);
    EXPECT_EQ(LogCase::tell(found), "inconclusive/unknown low (tentative)");
    EXPECT_EQ(found[0].state, model::State::kStopped);
  }
}

TEST(LogStuckHost, AWaitWhileWorkersCompile) {
  LogCase c;
  c.says(LogEventKind::kCompilation).says(LogEventKind::kEngineWaitsForWorker, {.code = 60});
  const auto found = c.run(find_log_stuck_host);
  EXPECT_EQ(LogCase::tell(found), "inconclusive/unknown low (tentative)");
  EXPECT_EQ(found[0].state, model::State::kStarting);
}

TEST(LogStuckHost, WhatLooksLikeIt) {
  LogCase ready;
  ready.says(LogEventKind::kCompilation).says(LogEventKind::kEngineWaitsForWorker, {.code = 60});
  ready.says(LogEventKind::kEngineReady);
  EXPECT_EQ(ready.told(find_log_stuck_host), "nothing");
  LogCase tokens;
  tokens.says(LogEventKind::kEngineWaitsForWorker, {.code = 60});
  tokens.says(LogEventKind::kRequestProgress, {.code = 0});  // a line that counts nothing
  EXPECT_NE(tokens.told(find_log_stuck_host), "nothing");
  tokens.says(LogEventKind::kRequestProgress, {.code = 1});
  EXPECT_EQ(tokens.told(find_log_stuck_host), "nothing");
  LogCase named;  // a collective that gave up says more
  named.give_up({0, 1}).says(LogEventKind::kWatchdogStuck);
  EXPECT_EQ(named.told(find_log_stuck_host), "nothing");
}

// An engine that came up after it had waited for its compiling workers is well.
TEST(LogStuckHost, AnEngineThatCameUpIsHealthy) {
  LogCase c;
  c.says(LogEventKind::kCompilation).says(LogEventKind::kEngineWaitsForWorker, {.code = 60});
  c.says(LogEventKind::kEngineReady).says(LogEventKind::kRequestProgress, {.code = 1});
  EXPECT_EQ(c.verdict(), "healthy/unknown low");
}

}  // namespace
}  // namespace unhang::detect
