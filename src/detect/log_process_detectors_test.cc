// SPDX-License-Identifier: Apache-2.0
//
// Processes, nodes and programs that ended, as logs tell of them.
#include <gtest/gtest.h>

#include "detect/log_case_for_tests.h"

namespace unhang::detect {
namespace {

using model::LogEventKind;

// What torchrun prints of one failed process.
LogCase& exited(LogCase& c, std::int32_t rank, std::int64_t code, bool root = false) {
  return c.file("job.log").by({}).says(LogEventKind::kProcessExit,
                                       {.code = code, .rank = rank, .detail = root ? "root" : ""});
}

// --- log_process_end ---

TEST(LogProcessEnd, OutOfMemoryKill) {
  LogCase c;
  c.file("node2.dmesg").by({.host = "node2"});
  c.says(LogEventKind::kOutOfMemoryKill, {.code = 15617, .subject = "python3", .detail = "cgroup"});
  EXPECT_EQ(c.told(find_log_process_end),
            "process_or_device_unavailable/oom_killed medium: process on node2");
  EXPECT_EQ(
      c.diagnosed().headline,
      "python3 (pid 15617) on node2 was killed for lack of host memory (the limit of its container): the "
      "other ranks wait for it");
}

TEST(LogProcessEnd, OutOfMemoryKillWithTheExitThatNamesTheRank) {
  LogCase c;
  c.file("a.dmesg").by({.host = "node2"}).says(LogEventKind::kOutOfMemoryKill, {.subject = "python3"});
  exited(c, 6, -9, true);
  exited(c, 0, -15);
  EXPECT_EQ(c.told(find_log_process_end).substr(0, 65),
            "process_or_device_unavailable/oom_killed medium: rank 6; process_");
}

TEST(LogProcessEnd, Orchestrator) {
  LogCase c;
  c.says(LogEventKind::kOrchestratorKill, {.detail = "preemption", .text = "CANCELLED DUE TO PREEMPTION"});
  EXPECT_EQ(c.told(find_log_process_end), "process_or_device_unavailable/killed_by_orchestrator medium");
  LogCase node;
  node.says(LogEventKind::kNodeFailed, {.subject = "node7"});
  EXPECT_EQ(node.told(find_log_process_end), "process_or_device_unavailable/node_unreachable medium: node7");
}

TEST(LogProcessEnd, Sigkill) {
  LogCase c;
  exited(c, 3, -9, true);
  const auto found = c.run(find_log_process_end);
  EXPECT_EQ(LogCase::tell(found), "process_or_device_unavailable/process_exited medium: rank 3");
  ASSERT_EQ(found[0].alternatives.size(), 1u);
  EXPECT_EQ(found[0].alternatives[0].cause, "oom_killed");
  LogCase as_status;
  exited(as_status, 3, 137);
  EXPECT_EQ(as_status.told(find_log_process_end), "process_or_device_unavailable/process_exited low: rank 3");
}

// A launcher kills with 9 what does not end: beside time-outs it is weak.
TEST(LogProcessEnd, SigkillAfterATimeout) {
  LogCase c;
  c.file("job.log").give_up({0, 1});
  exited(c, 3, -9);
  EXPECT_EQ(c.told(find_log_process_end), "process_or_device_unavailable/process_exited low ? rank 3");
}

TEST(LogProcessEnd, Crash) {
  for (const std::int64_t code : {-11, -7, 139}) {
    LogCase c;
    exited(c, 2, code, true);
    EXPECT_EQ(c.told(find_log_process_end), "process_or_device_unavailable/process_exited medium: rank 2")
        << code;
  }
  LogCase told_by_itself;
  told_by_itself.by_rank(2).says(LogEventKind::kFatalSignal, {.code = 11, .text = "Segmentation fault"});
  EXPECT_EQ(told_by_itself.told(find_log_process_end).substr(0, 48),
            "process_or_device_unavailable/process_exited low");
}

TEST(LogProcessEnd, DataWorker) {
  LogCase c;
  c.by_rank(4).says(LogEventKind::kDataWorkerKilled, {.code = 9});
  const auto found = c.run(find_log_process_end);
  EXPECT_EQ(LogCase::tell(found).substr(0, 48), "process_or_device_unavailable/process_exited low");
  EXPECT_EQ(found[0].root, "host_blocked");
}

// What watchdogs and launchers do to victims.
TEST(LogProcessEnd, WhatLooksLikeIt) {
  LogCase c;
  exited(c, 0, -6, true);
  exited(c, 1, -15);
  exited(c, 2, 134);
  exited(c, 3, 143);
  c.says(LogEventKind::kProcessSignalled, {.code = 15});
  c.says(LogEventKind::kFatalSignal, {.code = 6});
  c.says(LogEventKind::kFatalSignal, {.code = 0});
  EXPECT_EQ(c.told(find_log_process_end), "nothing");
  LogCase interrupted;
  exited(interrupted, 0, -2);
  EXPECT_EQ(interrupted.told(find_log_process_end), "nothing");
}

// --- log_exception ---

LogCase& raises(LogCase& c, std::int32_t rank, std::string type, std::string message) {
  return c.file("job.log").by_rank(rank).says(
      LogEventKind::kException, {.rank = rank, .subject = std::move(type), .detail = std::move(message)});
}

TEST(LogException, OfARankTheOthersWaitFor) {
  LogCase c;
  raises(c, 6, "ValueError", "bad batch");
  c.file("other.log").give_up({0, 1});
  const auto found = c.run(find_log_exception);
  EXPECT_EQ(LogCase::tell(found), "process_or_device_unavailable/process_exited low ? rank 6");
  EXPECT_EQ(found[0].root, "application_error");
  EXPECT_EQ(found[0].headline, "rank 6 failed with ValueError: bad batch; the others wait for it");
}

TEST(LogException, OfAProgramThatNobodyWaitsFor) {
  LogCase c;
  raises(c, 6, "FileNotFoundError", "no such file");
  EXPECT_EQ(c.told(find_log_exception), "not_communication/application_error low ? rank 6");
}

TEST(LogException, AnExitStatusAlone) {
  LogCase c;
  exited(c, 2, 1, true);
  EXPECT_EQ(c.told(find_log_exception), "not_communication/application_error low ? rank 2");
}

TEST(LogException, AfterATimeoutItIsHowTheWaitEnds) {
  LogCase c;
  c.file("job.log").give_up({0});
  raises(c, 0, "RuntimeError", "something broke");
  exited(c, 0, 1, true);
  EXPECT_EQ(c.told(find_log_exception), "nothing");
}

TEST(LogException, SecondHand) {
  for (const auto& [type, message] : std::vector<std::pair<std::string, std::string>>{
           {"torch.distributed.DistBackendError", "NCCL error in: x.cpp:1, remote process exited"},
           {"RuntimeError", "NCCL communicator was aborted"},
           {"torch.distributed.elastic.multiprocessing.errors.ChildFailedError", ""},
           {"EngineDeadError", "EngineCore encountered an issue"},
           {"RuntimeError", "[gloo/transport/tcp/pair.cc:534] Connection closed by peer"},
           {"KeyboardInterrupt", ""},
           {"TimeoutError", "RPC call to execute_model timed out."},
           {"BrokenPipeError", "Broken pipe"}}) {
    LogCase c;
    raises(c, 1, type, message);
    EXPECT_EQ(c.told(find_log_exception), "nothing") << type;
  }
}

TEST(LogException, SignalsAreNoExceptions) {
  LogCase c;
  exited(c, 0, -6, true);
  exited(c, 1, 137);
  exited(c, 2, 0);
  EXPECT_EQ(c.told(find_log_exception), "nothing");
}

// --- log_worker_died ---

TEST(LogWorkerDied, WithoutAStatedReason) {
  LogCase c;
  c.says(LogEventKind::kActorDied, {.text = "The actor is dead because its worker process has died."});
  const auto found = c.run(find_log_worker_died);
  EXPECT_EQ(LogCase::tell(found), "process_or_device_unavailable/process_exited low");
  ASSERT_EQ(found[0].alternatives.size(), 1u);
  EXPECT_EQ(found[0].alternatives[0].cause, "oom_killed");
}

TEST(LogWorkerDied, InAnotherFileThanTheTimeout) {
  LogCase c;
  c.file("ray.log").by({}).says(LogEventKind::kActorDied);
  c.file("worker.log").give_up({0});
  EXPECT_EQ(c.told(find_log_worker_died), "process_or_device_unavailable/process_exited low");
}

// The watchdog ends the worker; then its actor is dead.
TEST(LogWorkerDied, AfterATimeoutItIsAConsequence) {
  LogCase c;
  c.give_up({0}).says(LogEventKind::kActorDied);
  EXPECT_EQ(c.told(find_log_worker_died), "nothing");
}

TEST(LogWorkerDied, AReasonThatIsStatedComesFirst) {
  LogCase c;
  c.says(LogEventKind::kActorDied);
  c.says(LogEventKind::kOutOfMemoryKill, {.subject = "ray::Worker", .detail = "ray"});
  EXPECT_EQ(c.verdict(), "process_or_device_unavailable/oom_killed medium");
}

// --- log_peer_lost ---

TEST(LogPeerLost, ClosedByAnotherHost) {
  LogCase c;
  c.by({.host = "node1", .pid = 5}).says(LogEventKind::kConnectionClosed, {.peer = "node2<43210>"});
  EXPECT_EQ(c.told(find_log_peer_lost),
            "process_or_device_unavailable/process_exited low ? node2 (tentative)");
}

TEST(LogPeerLost, ResetAndGloo) {
  for (const LogEventKind kind : {LogEventKind::kConnectionReset, LogEventKind::kGlooClosed}) {
    LogCase c;
    c.by({.host = "node1", .pid = 5}).says(kind, {.code = 104, .peer = "10.0.0.7<43210>"});
    c.by({.host = "node3", .pid = 5}).says(kind, {.code = 104, .peer = "10.0.0.7<43210>"});
    EXPECT_EQ(c.told(find_log_peer_lost),
              "process_or_device_unavailable/process_exited low ? 10.0.0.7 (tentative)");
  }
}

TEST(LogPeerLost, SeveralPeersAreNobody) {
  LogCase c;
  c.by({.host = "node1"}).says(LogEventKind::kConnectionClosed, {.peer = "node2<1>"});
  c.says(LogEventKind::kConnectionClosed, {.peer = "node3<1>"});
  EXPECT_EQ(c.told(find_log_peer_lost), "process_or_device_unavailable/process_exited low (tentative)");
}

// A connection to the own host was closed by a proxy thread of the same job.
TEST(LogPeerLost, ClosedByTheOwnHost) {
  LogCase c;
  c.by({.host = "node1"}).says(LogEventKind::kConnectionClosed, {.peer = "node1<43210>"});
  EXPECT_EQ(c.told(find_log_peer_lost), "nothing");
}

TEST(LogPeerLost, AtTheEndOfTraining) {
  LogCase c;
  c.says(LogEventKind::kTrainingEnd).says(LogEventKind::kStoreClosed, {.text = "Broken pipe"});
  EXPECT_EQ(c.told(find_log_peer_lost), "nothing");
  EXPECT_EQ(c.verdict(), "healthy/unknown low");
}

TEST(LogPeerLost, TheStoreClosesAfterATimeout) {
  LogCase c;
  c.give_up({1}).says(LogEventKind::kStoreClosed);
  EXPECT_EQ(c.told(find_log_peer_lost), "nothing");
  LogCase without_a_timeout;
  without_a_timeout.says(LogEventKind::kStoreClosed);
  EXPECT_EQ(without_a_timeout.told(find_log_peer_lost),
            "process_or_device_unavailable/process_exited low (tentative)");
}

TEST(LogPeerLost, AServiceThreadEndsOnEveryNormalExit) {
  LogCase c;
  c.says(LogEventKind::kServiceClosed);
  EXPECT_EQ(c.told(find_log_peer_lost), "nothing");
}

}  // namespace
}  // namespace unhang::detect
