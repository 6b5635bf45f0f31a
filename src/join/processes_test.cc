// SPDX-License-Identifier: Apache-2.0
#include "join/processes.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "formats/catalogue.h"
#include "formats/stacks/process_state.h"
#include "join/join.h"
#include "join/process_ranks.h"
#include "join/stack_name.h"

namespace unhang::join {
namespace {

formats::Evidence file(std::string path, const std::string& text) {
  return formats::read_evidence(std::move(path), text);
}

template <class... Files>
model::Case joined(Files... files) {
  CaseBuilder builder(1);
  std::vector<formats::Evidence> batch;
  (batch.push_back(std::move(files)), ...);
  builder.add(std::move(batch));
  return builder.finish({});
}

std::string py_spy(int pid, const std::string& function) {
  return "Process " + std::to_string(pid) + ": python3\nPython v3.12.3 (/usr/bin/python3)\n\nThread " +
         std::to_string(pid) + " (idle): \"MainThread\"\n    " + function + " (train.py:3)\n";
}

std::string state(std::int64_t pid, std::int64_t inner, const std::string& host) {
  model::ProcessSample process;
  process.pid = pid;
  process.namespace_pid = inner;
  process.program = "python3";
  process.threads.resize(2);
  process.threads[0].thread = pid;
  process.threads[0].state = 'D';
  process.threads[0].wait_channel = "rpc_wait_bit_killable";
  process.threads[1].thread = pid + 1;
  return formats::stacks::process_state_json({process}, host, 1'764'000'000'000'000'000);
}

TEST(JoinProcesses, TwoToolsThatLookAtOneProcessAreOneReading) {
  const model::Case result =
      joined(file("a/py-spy.txt", py_spy(412, "load")), file("a/state.json", state(412, -1, "n1")));
  ASSERT_EQ(result.processes.size(), 1u);
  const model::ProcessSample& sample = result.processes[0].sample;
  EXPECT_EQ(sample.host, "n1");
  ASSERT_EQ(sample.threads.size(), 2u);
  const auto main =
      std::find_if(sample.threads.begin(), sample.threads.end(), [](const auto& t) { return t.is_main; });
  ASSERT_NE(main, sample.threads.end());
  EXPECT_EQ(main->name, "MainThread");
  EXPECT_EQ(main->state, 'D');
  EXPECT_EQ(main->wait_channel, "rpc_wait_bit_killable");
  ASSERT_EQ(main->frames.size(), 1u);
  EXPECT_EQ(main->source, model::StackSource::kPySpy);
}

TEST(JoinProcesses, APidOfAContainerIsTheSameProcess) {
  const model::Case result =
      joined(file("py-spy.txt", py_spy(12, "load")), file("state.json", state(88121, 12, "n1")));
  ASSERT_EQ(result.processes.size(), 1u);
  EXPECT_EQ(result.processes[0].sample.pid, 88121);
  EXPECT_EQ(result.processes[0].sample.namespace_pid, 12);
  EXPECT_EQ(result.processes[0].sample.threads.size(), 2u);
}

TEST(JoinProcesses, TheSameToolTwiceIsTwoLooks) {
  const model::Case result = joined(file("1.txt", py_spy(412, "a")), file("2.txt", py_spy(412, "b")));
  EXPECT_EQ(result.processes.size(), 2u);
}

// A capture looks at /proc twice and once with a debugger: the frames belong to the look next to them.
TEST(JoinProcesses, FramesGoToTheNearestLook) {
  const auto at = [](std::string path, std::string text, std::int64_t seconds) {
    formats::Evidence evidence = file(std::move(path), text);
    for (auto& sample : evidence.process_samples) {
      sample.host = "n1";
      sample.taken_ns = 1'764'000'000'000'000'000 + seconds * 1'000'000'000;
    }
    return evidence;
  };
  for (const std::int64_t seconds : {1, 9}) {
    const model::Case result =
        joined(at("a.json", state(412, -1, "n1"), 0), at("b.json", state(412, -1, "n1"), 10),
               at("c.txt", py_spy(412, "load"), seconds));
    ASSERT_EQ(result.processes.size(), 2u);
    EXPECT_EQ(result.processes[seconds == 1 ? 0 : 1].sample.threads[0].frames.size(), 1u);
    EXPECT_EQ(result.processes[seconds == 1 ? 1 : 0].sample.threads[0].frames.size(), 0u);
  }
}

TEST(JoinProcesses, NativeFramesComeUnderPythonOnes) {
  const std::string gdb =
      "Thread 1 (LWP 412):\n#0  0x1 in ncclGroupEnd () from libnccl.so.2\n"
      "#1  0x1 in _PyEval_EvalFrameDefault ()\n#2  0x1 in main ()\n";
  for (const bool gdb_first : {true, false}) {
    const model::Case result = gdb_first ? joined(file("a.gdb", gdb), file("b.txt", py_spy(412, "step")))
                                         : joined(file("a.txt", py_spy(412, "step")), file("b.gdb", gdb));
    ASSERT_EQ(result.processes.size(), 1u);
    const auto& frames = result.processes[0].sample.threads[0].frames;
    ASSERT_EQ(frames.size(), 2u);
    EXPECT_EQ(frames[0].function, "ncclGroupEnd");
    EXPECT_EQ(frames[1].function, "step");
  }
}

TEST(JoinProcesses, LogsTellTheRankOfAProcess) {
  const model::Case result = joined(
      file("a.log",
           "n1:412:500 [0] NCCL INFO ncclCommInitRank comm 0x1 rank 3 nranks 8 cudaDev 0 nvmlDev 0 busId "
           "1c000 commId 0x77 - Init START\n"),
      file("b.txt", py_spy(412, "step")), file("c.txt", py_spy(413, "step")));
  ASSERT_EQ(result.processes.size(), 2u);
  EXPECT_EQ(result.processes[0].sample.rank, 3);
  EXPECT_EQ(result.processes[1].sample.rank, -1);
}

TEST(JoinProcesses, FilesNameWhatTheirContentDoesNot) {
  const model::Case result = joined(
      file("stacks_rank3.txt", "Thread 0x1 (most recent call first):\n  File \"a.py\", line 1 in f\n"));
  ASSERT_EQ(result.processes.size(), 1u);
  EXPECT_EQ(result.processes[0].sample.rank, 3);
}

TEST(StackName, OnlyNumbersThatAWordCallsSo) {
  EXPECT_EQ(read_stack_name("a/py-spy.123.txt").pid, 123);
  EXPECT_EQ(read_stack_name("gpu7-pid-123.gdb.txt").pid, 123);
  EXPECT_EQ(read_stack_name("gdb.4").pid, 4);
  EXPECT_EQ(read_stack_name("x_rank_12_pid77.txt").rank, 12);
  EXPECT_EQ(read_stack_name("x_rank_12_pid77.txt").pid, 77);
  EXPECT_EQ(read_stack_name("20261129.txt").pid, -1);
  EXPECT_EQ(read_stack_name("node3.log").pid, -1);
  EXPECT_EQ(read_stack_name("pid99999999999999999999").pid, -1);
}

TEST(ProcessRanks, HostsAreComparedAsPeopleWriteThem) {
  EXPECT_TRUE(may_be_same_host("n1", "n1.cluster.example"));
  EXPECT_TRUE(may_be_same_host("", "n1"));
  EXPECT_TRUE(may_be_same_host("10.0.0.1", "n1"));
  EXPECT_FALSE(may_be_same_host("n1", "n2"));
  EXPECT_FALSE(may_be_same_host("10.0.0.1", "10.0.0.2"));
}

TEST(ProcessRanks, TheSamePidOnTwoHostsIsNobodyWithoutAHost) {
  model::Case result;
  result.ranks.resize(2);
  for (std::int32_t rank = 0; rank < 2; ++rank) {
    result.ranks[rank].global_rank = rank;
    result.ranks[rank].host = "n" + std::to_string(rank);
    result.ranks[rank].pid = 7;
  }
  const ProcessRanks ranks(result);
  EXPECT_EQ(ranks.find("n1", 7), 1);
  EXPECT_EQ(ranks.find("", 7), -1);
  EXPECT_EQ(ranks.find("n2", 7), -1);
  EXPECT_EQ(ranks.find("n1", 8), -1);
}

}  // namespace
}  // namespace unhang::join
