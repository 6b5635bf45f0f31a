// SPDX-License-Identifier: Apache-2.0
#include "report/stack_tree.h"

#include <gtest/gtest.h>

#include "report/text_layout.h"

namespace unhang::report {
namespace {

using Frames = std::vector<model::StackFrame>;

model::StackFrame frame(std::string function, std::string file, std::int64_t line) {
  return {std::move(function), std::move(file), line, true};
}

// Outermost first, as people draw them.
void add(model::Case& joined, std::int32_t rank, Frames path, std::int64_t pid = -1) {
  model::ProcessReading& reading = joined.processes.emplace_back();
  reading.sample.rank = rank;
  reading.sample.host = "n1";
  reading.sample.pid = pid >= 0 ? pid : 100 + rank;
  model::ThreadSample& thread = reading.sample.threads.emplace_back();
  thread.is_main = true;
  thread.source = model::StackSource::kPySpy;
  thread.frames.assign(path.rbegin(), path.rend());
}

Frames waiting(std::int64_t line = 12) {
  return {frame("main", "train.py", line),
          frame("all_reduce", "torch/distributed/distributed_c10d.py", 2810)};
}
Frames loading() {
  return {frame("main", "train.py", 9), frame("_next_data", "torch/utils/data/dataloader.py", 1448)};
}

TEST(StackTree, OutliersPartWhereTheirCallsDo) {
  model::Case joined;
  for (std::int32_t rank = 0; rank < 3; ++rank) add(joined, rank, waiting());
  add(joined, 3, loading());
  EXPECT_EQ(render_stacks(stack_looks(joined, false), {}),
            "4 processes · stacks by py-spy\n"
            "\n"
            "  ranks 0-2 (3)  waiting in a collective\n"
            "  rank 3         waiting for its data loader\n"
            "\n"
            "ranks 0-2 (3)\n"
            "  main  train.py:12\n"
            "  all_reduce  …/distributed/distributed_c10d.py:2810  <- waiting in a collective\n"
            "rank 3\n"
            "  main  train.py:9\n"
            "  _next_data  …/utils/data/dataloader.py:1448  <- waiting for its data loader\n");
}

TEST(StackTree, TheLineOfTheInnermostFrameDoesNotPart) {
  model::Case joined;
  add(joined, 0, {frame("loop", "a.py", 5)});
  add(joined, 1, {frame("loop", "a.py", 6)});
  add(joined, 2, {frame("loop", "a.py", 6)});
  const StackLooks looks = stack_looks(joined, false);
  std::vector<const StackLook*> all;
  for (const StackLook& look : looks.looks) all.push_back(&look);
  const auto nodes = merge_stacks(all);
  ASSERT_EQ(nodes.size(), 2u);
  EXPECT_EQ(nodes[1].members.size(), 3u);
  EXPECT_EQ(nodes[1].frame.line, 6);  // of most
}

TEST(StackTree, CallsOnTwoLinesAreTwoCalls) {
  model::Case joined;
  add(joined, 0, waiting(12));
  add(joined, 1, waiting(30));
  const StackLooks looks = stack_looks(joined, false);
  std::vector<const StackLook*> all;
  for (const StackLook& look : looks.looks) all.push_back(&look);
  EXPECT_EQ(merge_stacks(all)[0].children.size(), 2u);
}

TEST(StackTree, LongRunsAreFoldedUnlessAsked) {
  model::Case joined;
  Frames deep;
  for (int i = 0; i < 30; ++i) deep.push_back(frame("f" + std::to_string(i), "a.py", i + 1));
  add(joined, 0, deep);
  const std::string folded = render_stacks(stack_looks(joined, false), {});
  EXPECT_NE(folded.find("… 26 frames"), std::string::npos) << folded;
  EXPECT_EQ(folded.find("f13"), std::string::npos);
  EXPECT_NE(render_stacks(stack_looks(joined, false), {.every_frame = true}).find("f13"), std::string::npos);
}

TEST(StackTree, NoLineIsWiderThanTheScreen) {
  model::Case joined;
  for (std::int32_t rank = 0; rank < 40; rank += 2) {
    Frames path;
    for (std::int32_t i = 0; i <= rank; ++i)
      path.push_back(frame("a_function_with_a_rather_long_name_" + std::to_string(i),
                           "some/folder/with/file.py", 100 + i));
    path.push_back(frame("save_checkpoint\x1b[31m", "x.py", rank));
    add(joined, rank, path);
  }
  add(joined, -1, waiting(), 77);
  for (const int width : {40, 80, 160}) {
    const std::string text = render_stacks(stack_looks(joined, false), {.width = width, .every_frame = true});
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = text.find('\n', at);
      EXPECT_LE(columns(text.substr(at, end - at)), width) << text.substr(at, end - at);
      at = end + 1;
    }
    EXPECT_EQ(text.find('\x1b'), std::string::npos);
    EXPECT_NE(text.find("n1:77"), std::string::npos);
  }
}

TEST(StackTree, OnlyTheLatestLookIsShown) {
  model::Case joined;
  add(joined, 0, waiting());
  add(joined, 0, loading());
  const StackLooks looks = stack_looks(joined, false);
  ASSERT_EQ(looks.looks.size(), 1u);
  EXPECT_EQ(looks.looks[0].path[1].function, "_next_data");
  EXPECT_EQ(looks.older, 1u);
}

TEST(StackTree, WithoutFramesTheKernelIsShown) {
  model::Case joined;
  add(joined, 0, {});
  model::ThreadSample& thread = joined.processes[0].sample.threads[0];
  thread.state = 'D';
  thread.system_call = "read";
  thread.wait_channel = "rpc_wait_bit_killable";
  thread.kernel_frames = {"rpc_wait_bit_killable", "nfs_file_read"};
  joined.processes[0].sample.not_readable = {"stack: Permission denied"};
  const std::string text = render_stacks(stack_looks(joined, false), {});
  EXPECT_NE(text.find("rank 0  waiting for a network file system (cannot be woken)"), std::string::npos)
      << text;
  EXPECT_NE(text.find("  read  [kernel]\n  nfs_file_read  [kernel]  <- waiting for a network file system\n"
                      "  rpc_wait_bit_killable  [kernel]\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("Not readable: stack: Permission denied (rank 0)"), std::string::npos);
}

TEST(StackTree, AllThreadsStandTogetherByName) {
  model::Case joined;
  for (std::int32_t rank = 0; rank < 2; ++rank) {
    add(joined, rank, waiting());
    for (int worker = 0; worker < 2; ++worker) {
      model::ThreadSample& thread = joined.processes.back().sample.threads.emplace_back();
      thread.name = "pin_memory_" + std::to_string(worker);
      thread.frames = {frame("get", "queue.py", 171)};
    }
  }
  const std::string text = render_stacks(stack_looks(joined, true), {.all_threads = true});
  EXPECT_NE(text.find("main thread\n"), std::string::npos) << text;
  EXPECT_NE(text.find("thread pin_memory\n"), std::string::npos) << text;
  EXPECT_LT(text.find("main thread\n"), text.find("thread pin_memory\n"));
}

TEST(StackTree, FoldedFormHasOneLineForEachPath) {
  model::Case joined;
  add(joined, 0, waiting());
  add(joined, 1, waiting());
  add(joined, 2, {frame("a;b\n", "x/y.py", 3)});
  EXPECT_EQ(folded_stacks(stack_looks(joined, false)),
            "a:b  (y.py:3) 1\nmain (train.py:12);all_reduce (distributed_c10d.py:2810) 2\n");
}

TEST(StackTree, TheSameEvidenceGivesTheSameBytes) {
  model::Case one, other;
  add(one, 0, waiting());
  add(one, 1, loading());
  add(other, 1, loading());
  add(other, 0, waiting());
  EXPECT_EQ(render_stacks(stack_looks(one, false), {}), render_stacks(stack_looks(other, false), {}));
  EXPECT_EQ(stacks_json(stack_looks(one, false)), stacks_json(stack_looks(other, false)));
}

}  // namespace
}  // namespace unhang::report
