// SPDX-License-Identifier: Apache-2.0
#include "formats/stacks/faulthandler.h"

#include <gtest/gtest.h>

#include "formats/catalogue.h"
#include "formats/evidence_stream.h"
#include "formats/stacks/corpus_for_tests.h"

namespace unhang::formats::stacks {
namespace {

TEST(Faulthandler, ReadsADumpAfterATimeLimit) {
  const Evidence evidence = read_evidence("x", seed("faulthandler/timeout.txt"));
  EXPECT_EQ(evidence.kind, "faulthandler");
  ASSERT_EQ(evidence.process_samples.size(), 1u);
  ASSERT_EQ(evidence.process_samples[0].threads.size(), 2u);
  const model::ThreadSample& main = evidence.process_samples[0].threads[1];
  EXPECT_TRUE(main.is_main);
  ASSERT_EQ(main.frames.size(), 5u);
  EXPECT_EQ(main.frames[2].function, "_next_data");
  EXPECT_EQ(main.frames[2].file, "/tmp/w/stacks/stuck.py");
  EXPECT_EQ(main.frames[2].line, 3);
  EXPECT_TRUE(main.frames[2].python);
}

TEST(Faulthandler, TagsInFrontTellTheRankAndACrashStaysALog) {
  const Evidence evidence = read_evidence("x", seed("faulthandler/fatal.txt"));
  EXPECT_EQ(shown(evidence),
            "rank 3 -1 \n  -1 pt_autograd_0: \n"
            "* -1 : step@/opt/train.py:12 < ???@??? < <module>@/opt/train.py:30\n");
  ASSERT_EQ(evidence.logs.size(), 1u);
  EXPECT_FALSE(evidence.logs[0].events.empty());
}

TEST(Faulthandler, WritersThatAreMixedAreToldApart) {
  const Evidence evidence = read_evidence("x",
                                          "(Worker_TP0 pid=10) Thread 0x1 (most recent call first):\n"
                                          "(Worker_TP1 pid=11) Thread 0x1 (most recent call first):\n"
                                          "(Worker_TP1 pid=11)   File \"b.py\", line 2 in g\n"
                                          "(Worker_TP0 pid=10)   File \"a.py\", line 1 in f\n");
  EXPECT_EQ(shown(evidence), "10 \n* -1 : f@a.py:1\n11 \n* -1 : g@b.py:2\n");
}

TEST(Faulthandler, TheSameThreadAgainIsALaterDump) {
  const std::string dump =
      "Timeout (0:00:01)!\nThread 0x1 (most recent call first):\n  File \"a.py\", line 1 in f\n";
  EXPECT_EQ(read_evidence("x", dump + dump).process_samples.size(), 2u);
}

// The blocks of a stream may end anywhere.
TEST(Faulthandler, DumpsAmongTheLinesOfALogAreFound) {
  std::string text;
  for (int i = 0; i < 40; ++i) text += "2026-11-29 15:00:01 INFO nccl step " + std::to_string(i) + "\n";
  text +=
      "node3:4242:4250 [1] misc/socket.cc:50 NCCL WARN socketProgress: Connection closed by remote peer "
      "n4<1>\n";
  text += seed("faulthandler/fatal.txt");
  const Evidence whole = read_evidence("job.log", text);
  EXPECT_EQ(whole.kind, "log");
  ASSERT_EQ(whole.process_samples.size(), 1u);
  for (const std::size_t block : {1u, 3u, 64u, 1u << 20}) {
    auto stream = stream_evidence("job.log", text, 1);
    ASSERT_TRUE(stream);
    for (std::size_t at = 0; at < text.size(); at += block)
      stream->feed(std::string_view(text).substr(at, block));
    const Evidence evidence = stream->finish();
    EXPECT_EQ(shown(evidence), shown(whole)) << block;
    EXPECT_EQ(evidence.logs.size(), 1u);
  }
}

TEST(Faulthandler, ATracebackIsNone) {
  EXPECT_FALSE(sniff_faulthandler("Traceback (most recent call last):\n  File \"a.py\", line 1, in f\n"));
  EXPECT_FALSE(sniff_faulthandler("Timeout (30s) while waiting\nThread 0x1 (most recent call first):\n"));
}

}  // namespace
}  // namespace unhang::formats::stacks
