// SPDX-License-Identifier: Apache-2.0
#include "formats/stacks/process_state.h"

#include <gtest/gtest.h>

#include "formats/catalogue.h"

namespace unhang::formats::stacks {
namespace {

model::ProcessSample stuck() {
  model::ProcessSample process;
  process.pid = 88121;
  process.namespace_pid = 412;
  process.parent = 88001;
  process.program = "python3";
  process.state = 'D';
  process.not_readable = {"syscall: Operation not permitted"};
  model::ThreadSample thread;
  thread.thread = 88121;
  thread.name = "python3";
  thread.state = 'D';
  thread.wait_channel = "rpc_wait_bit_killable";
  thread.system_call = "read";
  thread.kernel_frames = {"rpc_wait_bit_killable", "nfs_file_read"};
  process.threads.push_back(thread);
  thread = {};
  thread.thread = 88130;
  thread.state = 'S';
  process.threads.push_back(thread);
  return process;
}

TEST(ProcessState, WhatIsWrittenIsReadAgain) {
  const std::string text = process_state_json({stuck(), {}}, "gpu-b07", 1'764'000'000'123'456'789);
  const Evidence evidence = read_evidence("state.json", text);
  EXPECT_EQ(evidence.kind, "process_state");
  EXPECT_TRUE(evidence.problems.empty());
  ASSERT_EQ(evidence.process_samples.size(), 2u);
  const model::ProcessSample& process = evidence.process_samples[0];
  EXPECT_EQ(process.host, "gpu-b07");
  EXPECT_EQ(process.pid, 88121);
  EXPECT_EQ(process.namespace_pid, 412);
  EXPECT_EQ(process.parent, 88001);
  EXPECT_EQ(process.program, "python3");
  EXPECT_EQ(process.state, 'D');
  EXPECT_EQ(process.taken_ns, 1'764'000'000'123'456'789);
  EXPECT_EQ(process.not_readable, stuck().not_readable);
  ASSERT_EQ(process.threads.size(), 2u);
  EXPECT_TRUE(process.threads[0].is_main);
  EXPECT_EQ(process.threads[0].wait_channel, "rpc_wait_bit_killable");
  EXPECT_EQ(process.threads[0].system_call, "read");
  EXPECT_EQ(process.threads[0].kernel_frames, stuck().threads[0].kernel_frames);
  EXPECT_EQ(process.threads[0].source, model::StackSource::kProc);
  EXPECT_FALSE(process.threads[1].is_main);
  EXPECT_EQ(process.threads[1].wait_channel, "");
  EXPECT_EQ(evidence.process_samples[1].pid, -1);
  EXPECT_EQ(evidence.process_samples[1].state, '\0');
}

TEST(ProcessState, NamesOfStrangersStayValidJson) {
  model::ProcessSample process;
  process.pid = 7;
  process.program = "a\"b\\c\n\x1b[31m\xff";
  const Evidence evidence = read_evidence("state.json", process_state_json({process}, "", {}));
  ASSERT_EQ(evidence.process_samples.size(), 1u);
  EXPECT_EQ(evidence.process_samples[0].program, "a\"b\\c\\x0a\\x1b[31m\\xff");
  EXPECT_EQ(evidence.process_samples[0].host, "");
  EXPECT_FALSE(evidence.process_samples[0].taken_ns);
}

TEST(ProcessState, ACutDocumentIsAProblem) {
  const std::string text = process_state_json({stuck()}, "gpu-b07", 1);
  for (std::size_t size = 60; size + 2 < text.size(); ++size) {
    const Evidence evidence = read_evidence("state.json", std::string_view(text).substr(0, size));
    EXPECT_TRUE(evidence.process_samples.empty()) << size;
    ASSERT_EQ(evidence.problems.size(), 1u) << size;
    EXPECT_EQ(evidence.problems[0].code, "damaged");
  }
}

TEST(ProcessState, WrongTypesCountAsNotThere) {
  const Evidence evidence =
      read_evidence("x", R"({"schema":"unhang.process_state/1","host":7,"taken_ns":"now","processes":[3,
           {"pid":-5,"parent":1.5,"state":"DD","threads":{},"not_readable":[1,"a"]},{"threads":[[],{"tid":"x"}]}]})");
  ASSERT_EQ(evidence.process_samples.size(), 2u);
  EXPECT_EQ(evidence.process_samples[0].pid, -1);
  EXPECT_EQ(evidence.process_samples[0].state, '\0');
  EXPECT_EQ(evidence.process_samples[0].not_readable, std::vector<std::string>{"a"});
  EXPECT_EQ(evidence.process_samples[1].threads.size(), 1u);
}

TEST(ProcessState, ALaterFormIsReadAndSaid) {
  const Evidence evidence =
      read_evidence("x", R"({"schema":"unhang.process_state/2","processes":[{"pid":3}]})");
  ASSERT_EQ(evidence.problems.size(), 1u);
  EXPECT_EQ(evidence.problems[0].code, "newer_schema");
  EXPECT_EQ(evidence.process_samples.size(), 1u);
}

TEST(ProcessState, OtherJsonIsNotTaken) {
  EXPECT_FALSE(sniff_process_state(R"({"about":"unhang.process_state/1"})"));
  EXPECT_FALSE(sniff_process_state(R"([{"schema":"unhang.process_state/1"}])"));
  EXPECT_FALSE(sniff_process_state(R"({"schema":"unhang.bundle/1"})"));
}

}  // namespace
}  // namespace unhang::formats::stacks
