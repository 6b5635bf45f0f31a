// SPDX-License-Identifier: Apache-2.0
#include "formats/log/block_queue.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "formats/log/reader.h"

namespace unhang::formats::log {
namespace {

TEST(BlockQueue, KeepsTheOrderAndLosesNothing) {
  KeywordFilter filter;
  filter.add("even", 0);
  filter.prepare();
  for (const unsigned threads : {1u, 2u, 5u}) {
    std::vector<std::string> lines;
    std::size_t prepared = 0;
    BlockQueue queue(filter, threads, [&](const PreparedBlock& block) {
      for (std::size_t i = 0; i < block.lines.size(); ++i) lines.emplace_back(block.line(i));
      prepared += block.prepared.size();
    });
    constexpr int kBlocks = 200;
    for (int i = 0; i < kBlocks; ++i) {
      std::string block = std::to_string(i) + (i % 2 == 0 ? " even\n" : " odd\n");
      queue.add(block);
    }
    queue.finish();
    ASSERT_EQ(lines.size(), std::size_t{kBlocks});
    EXPECT_EQ(prepared, std::size_t{kBlocks / 2});
    for (int i = 0; i < kBlocks; ++i) EXPECT_TRUE(lines[i].starts_with(std::to_string(i) + " ")) << lines[i];
  }
}

TEST(BlockQueue, MayBeLeftWithBlocksInIt) {
  KeywordFilter filter;
  filter.prepare();
  BlockQueue queue(filter, 3, [](const PreparedBlock&) {});
  for (int i = 0; i < 5; ++i) {
    std::string block(1000, 'x');
    queue.add(block);
  }
}

// Nodes that become known, tracebacks that stay open, wrapped and glued records, distances of time: all that
// a line says only together with those in front of it, over many blocks.
TEST(LogReader, ReadsTheSameWithAnyNumberOfThreads) {
  std::string text = "[ 10.000000] NVRM: Xid (PCI:0000:3b:00): 79, pid=1, GPU has fallen off the bus.\n";
  for (int i = 0; i < 12000; ++i) {
    const std::string number = std::to_string(i);
    text += "worker-" + std::to_string(i % 7) + ": step " + number + " loss: 2.5\n";
    if (i % 1000 == 500)
      text += "worker-" + std::to_string(i % 7) + ": [rank1]: step " + number + " loss: 2\n";
    text += "node3:42:43 [1] NCCL INFO AllReduce: opCount " + number +
            " sendbuff 0x1 recvbuff 0x2 count 5 datatype 7 op 0 root 0 comm 0x55aa [nranks=8] stream 0x3\n";
    if (i % 997 == 3)
      text += "Traceback (most recent call last):\n  File \"a.py\", line 1, in f\n    x()\nValueError: " +
              number + "\n";
    if (i % 1301 == 7)
      text += "[Rank 0] Watchdog caught collective operation timeout:\n  WorkNCCL(SeqNum=" + number +
              ")\n  ran for 18 milliseconds before timing out.\n";
    if (i % 800 == 9) text += "[  +0.500000] b\n";
    text += "some words of a program, number " + number + "\n";
  }
  text += "h:1:2 [0] NCCL INFO one h:1:3 [0] NCCL INFO two\nthe last words";
  const auto read = [&text](unsigned threads, std::size_t size) {
    LogReader reader(threads);
    for (std::size_t at = 0; at < text.size(); at += size)
      reader.feed(std::string_view(text).substr(at, size));
    return reader.finish();
  };
  const model::Log one = read(1, 1000);
  EXPECT_EQ(one.last_text, "the last words");
  EXPECT_GT(one.events.size(), 20u);
  EXPECT_EQ(one.timeouts.size(), 10u);
  EXPECT_EQ(one.calls.size(), 64u);
  EXPECT_EQ(one.calls.back().op_count, 0x11999u);
  for (const unsigned threads : {1u, 2u, 4u}) {
    const model::Log many = read(threads, 100'000);
    EXPECT_EQ(many.lines, one.lines);
    EXPECT_EQ(many.nccl_lines, one.nccl_lines);
    EXPECT_EQ(many.recognised, one.recognised);
    EXPECT_EQ(many.last_text, one.last_text);
    EXPECT_EQ(many.first.ns, one.first.ns);
    EXPECT_EQ(many.last.ns, one.last.ns);
    EXPECT_EQ(many.origins, one.origins);
    ASSERT_EQ(many.events.size(), one.events.size());
    for (std::size_t i = 0; i < one.events.size(); ++i) {
      const model::LogEvent &a = many.events[i], &b = one.events[i];
      EXPECT_TRUE(a.kind == b.kind && a.line == b.line && a.count == b.count && a.text == b.text &&
                  a.origin == b.origin && a.first.ns == b.first.ns && a.last.ns == b.last.ns)
          << b.text;
    }
  }
}

}  // namespace
}  // namespace unhang::formats::log
