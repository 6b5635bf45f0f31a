// SPDX-License-Identifier: Apache-2.0
#include "formats/log/prefix.h"

#include <gtest/gtest.h>

#include "base/time_text.h"

namespace unhang::formats::log {
namespace {

using model::LogClock;

struct Case {
  const char* line;
  const char* message;
  LogClock clock = LogClock::kNone;
  const char* time = "";  // as UTC
  const char* host = "";
  std::int64_t pid = -1;
  std::int32_t global = -1, local = -1, device = -1;
  const char* label = "";
};

void expect(const Case& want) {
  NodeNames nodes;
  const std::string_view line = want.line;
  const Prefix got = read_prefix(line, nodes);
  EXPECT_EQ(line.substr(got.length), want.message) << want.line;
  EXPECT_EQ(got.time.clock, want.clock) << want.line;
  if (*want.time != 0) {
    EXPECT_EQ(base::utc_text(got.time.ns), base::utc_text(*base::parse_utc(want.time))) << want.line;
  }
  EXPECT_EQ(got.host, want.host) << want.line;
  EXPECT_EQ(got.pid, want.pid) << want.line;
  EXPECT_EQ(got.global_rank, want.global) << want.line;
  EXPECT_EQ(got.local_rank, want.local) << want.line;
  EXPECT_EQ(got.cuda_device, want.device) << want.line;
  EXPECT_EQ(got.label, want.label) << want.line;
}

TEST(Prefix, Collectors) {
  expect({.line = "2026-02-18T10:48:25.681Z text",
          .message = "text",
          .clock = LogClock::kUtc,
          .time = "2026-02-18T10:48:25.681Z"});
  expect({.line = "2026-02-18T10:48:25.681+02:00 stderr F text",
          .message = "text",
          .clock = LogClock::kUtc,
          .time = "2026-02-18T08:48:25.681Z"});
  expect({.line = "2026-02-18T10:48:25Z: [1,12]<stdout>:text",
          .message = "text",
          .clock = LogClock::kUtc,
          .time = "2026-02-18T10:48:25Z",
          .global = 12});
  expect({.line = "Feb 14 05:03:41 gpu-7 kernel: NVRM: Xid",
          .message = "NVRM: Xid",
          .clock = LogClock::kLocalNoYear,
          .time = "1972-02-14T05:03:41Z",
          .host = "gpu-7"});
  expect({.line = "Feb  4 05:03:41 gpu-7 nv-hostengine[44]: ready",
          .message = "ready",
          .clock = LogClock::kLocalNoYear,
          .time = "1972-02-04T05:03:41Z",
          .host = "gpu-7",
          .pid = 44});
  expect({.line = "Feb 14 05:03:41 gpu-7 kernel: [  514.682838] oom",
          .message = "oom",
          .clock = LogClock::kLocalNoYear,
          .time = "1972-02-14T05:03:41Z",
          .host = "gpu-7"});
  // What stands behind the time of dmesg is the kernel's: no host, no program.
  expect({.line = "2026-11-29T13:47:35,672136+00:00 usb 1-14: new high-speed USB device",
          .message = "usb 1-14: new high-speed USB device",
          .clock = LogClock::kUtc,
          .time = "2026-11-29T13:47:35.672136Z"});
  expect({.line = "2026-11-29T14:47:35,672136+01:00 TCP: eth0: Driver has suspect GRO",
          .message = "TCP: eth0: Driver has suspect GRO",
          .clock = LogClock::kUtc,
          .time = "2026-11-29T13:47:35.672136Z"});
  expect({.line = "2026-11-29T13:47:35.672136+00:00 gpu-7 kernel: NVRM: x",
          .message = "NVRM: x",
          .clock = LogClock::kUtc,
          .time = "2026-11-29T13:47:35.672136Z",
          .host = "gpu-7"});
  expect({.line = "[ 1843.308145] NVRM: x",
          .message = "NVRM: x",
          .clock = LogClock::kUptime,
          .time = "1970-01-01T00:30:43.308145Z"});
  expect({.line = "[Tue Sep 12 10:00:00 2023] NVRM: x",
          .message = "NVRM: x",
          .clock = LogClock::kLocal,
          .time = "2023-09-12T10:00:00Z"});
  expect({.line = "[Feb14 05:03] NVRM: x",
          .message = "NVRM: x",
          .clock = LogClock::kLocalNoYear,
          .time = "1972-02-14T05:03:00Z"});
}

TEST(Prefix, Launchers) {
  expect({.line = "[rank7]: Traceback", .message = "Traceback", .global = 7});
  expect({.line = "[rank7]:   File \"a.py\"", .message = "  File \"a.py\"", .global = 7});
  expect({.line = "[default3]:text", .message = "text", .local = 3});
  expect({.line = "[1,5]<stderr>:[rank5]: text", .message = "text", .global = 5});
  expect({.line = "12: [rank12]: text", .message = "text", .global = 12});
  expect({.line = "node3: [rank12]: text", .message = "text", .host = "node3", .global = 12});
  expect({.line = "10.0.0.10: text", .message = "text", .host = "10.0.0.10"});
  expect({.line = "bert.node1.nolog [stderr] text", .message = "text"});
  expect({.line = "(RayWorkerWrapper pid=270291, ip=10.0.0.5) text",
          .message = "text",
          .host = "10.0.0.5",
          .pid = 270291,
          .label = "RayWorkerWrapper"});
  expect({.line = "(EngineCore_DP0 pid=12) (Worker_TP1 pid=13) text",
          .message = "text",
          .pid = 12,
          .label = "Worker_TP1"});
}

TEST(Prefix, Loggers) {
  expect({.line = "[rank7]:[E1016 03:31:38.928019586 ProcessGroupNCCL.cpp:607] [Rank 7] W",
          .message = "[Rank 7] W",
          .clock = LogClock::kLocalNoYear,
          .time = "1972-10-16T03:31:38.928019586Z",
          .global = 7});
  expect({.line = "[E321 03:31:38.9 ProcessGroupNCCL.cpp:607] W",
          .message = "W",
          .clock = LogClock::kLocalNoYear,
          .time = "1972-03-21T03:31:38.9Z"});
  expect({.line = "[E ProcessGroupNCCL.cpp:475] W", .message = "W"});
  expect({.line = "I1028 12:13:38.405081 632355 ProcessGroupNCCL.cpp:843] W",
          .message = "W",
          .clock = LogClock::kLocalNoYear,
          .time = "1972-10-28T12:13:38.405081Z",
          .pid = 632355});
  expect({.line = "E0517 08:24:03.805000 970611 torch/distributed/elastic/multiprocessing/api.py:826] failed",
          .message = "failed",
          .clock = LogClock::kLocalNoYear,
          .time = "1972-05-17T08:24:03.805Z",
          .pid = 970611});
  expect({.line = "2026-02-18 10:28:25,496 - root - INFO - Saving",
          .message = "Saving",
          .clock = LogClock::kLocal,
          .time = "2026-02-18T10:28:25.496Z"});
  expect({.line = "[2026-01-02 03:04:05 TP3] text",
          .message = "text",
          .clock = LogClock::kLocal,
          .time = "2026-01-02T03:04:05Z",
          .label = "TP3"});
  expect({.line = "INFO 10-22 09:43:49 [shm_broadcast.py:466] No",
          .message = "No",
          .clock = LogClock::kLocalNoYear,
          .time = "1972-10-22T09:43:49Z"});
  expect({.line = "(EngineCore pid=2025) INFO 08-13 11:27:02 [shm_broadcast.py:802] No",
          .message = "No",
          .clock = LogClock::kLocalNoYear,
          .time = "1972-08-13T11:27:02Z",
          .pid = 2025,
          .label = "EngineCore"});
  expect({.line = "[2026-03-13 22:26:02,123] [INFO] [engine.py:12:run] text",
          .message = "text",
          .clock = LogClock::kLocal,
          .time = "2026-03-13T22:26:02.123Z"});
}

// An outer time with a zone wins over an inner one without; the year of an inner one is kept.
TEST(Prefix, TheBetterOfTwoTimes) {
  expect({.line = "2026-02-18T10:28:25.497Z 2026-02-18 11:28:25,496 - root - INFO - Saving",
          .message = "Saving",
          .clock = LogClock::kUtc,
          .time = "2026-02-18T10:28:25.497Z"});
  expect({.line = "INFO 02-18 10:28:25 [a.py:1] 2026-02-18 10:28:26 text",
          .message = "text",
          .clock = LogClock::kLocal,
          .time = "2026-02-18T10:28:26Z"});
}

TEST(Prefix, NcclOfAllReleases) {
  expect({.line = "node-1:45:67 [3] NCCL INFO text",
          .message = "text",
          .host = "node-1",
          .pid = 45,
          .device = 3});
  expect({.line = "node-1:45:67 [3] INFO NET : text",
          .message = "NET : text",
          .host = "node-1",
          .pid = 45,
          .device = 3});
  expect({.line = "node-1:45:67 [3] misc/ibvwrap.cu:61 WARN Failed",
          .message = "Failed",
          .host = "node-1",
          .pid = 45,
          .device = 3});
  expect({.line = "[2026-03-13 22:26:02] n:1:2 [0] init.cc:12 (ncclInit(int, char)) NCCL WARN text",
          .message = "text",
          .clock = LogClock::kLocal,
          .time = "2026-03-13T22:26:02Z",
          .host = "n",
          .pid = 1,
          .device = 0});
  expect({.line = "n:1:2 [0] 123.456 ncclGroup:77 NCCL TRACE text",
          .message = "text",
          .host = "n",
          .pid = 1,
          .device = 0});
  expect({.line = "n:1:2 NCCL CALL ncclAllReduce(…)", .message = "ncclAllReduce(…)", .host = "n", .pid = 1});
  expect({.line = "(W pid=9, ip=10.0.0.5) n:1:2 [0] NCCL INFO text",
          .message = "text",
          .host = "n",
          .pid = 1,
          .device = 0,
          .label = "W"});
  expect({.line = "[3] include/shm.h:28 NCCL WARN text", .message = "text", .device = 3});
  expect({.line = "NCCL WARN text", .message = "text"});
  expect({.line = "> **n:1:2 [0] NCCL INFO text", .message = "text", .host = "n", .pid = 1, .device = 0});
}

TEST(Prefix, WhatOnlyLooksLikeOne) {
  for (const char* line :
       {"Error: x", "what():  x", "INFO: server up", "time: 12:00", "[3]",
        "[0]:", "GPU0: 2026-01-01 00:00:00 x", "NCCL version 2.20.5", "Rank 3: text", "(see pid=x) text",
        "2026-02-30 10:00:00 no such day", "12 files", "a:b:c NCCL INFO", "n:1:2 [0] nothing",
        "  rank      : 0 (local_rank: 0)", "Failures:"}) {
    NodeNames nodes;
    const Prefix got = read_prefix(line, nodes);
    EXPECT_EQ(got.length, 0u) << line;
    EXPECT_FALSE(got.time.known()) << line;
    EXPECT_EQ(got.host, "") << line;
  }
}

TEST(Prefix, ANodeIsKnownOnceSeenBeforeARecord) {
  NodeNames nodes;
  const Prefix before = read_prefix("worker-3: loading", nodes);
  EXPECT_EQ(before.length, 0u);
  EXPECT_EQ(before.unknown_node, "worker-3");
  const Prefix record = read_prefix("worker-3: [rank1]: x", nodes);
  EXPECT_EQ(record.host, "worker-3");
  EXPECT_EQ(record.new_node, "worker-3");
  nodes.learn(record.new_node);
  const Prefix later = read_prefix("worker-3: loading", nodes);
  EXPECT_EQ(later.host, "worker-3");
  EXPECT_EQ(later.length, 10u);
}

}  // namespace
}  // namespace unhang::formats::log
