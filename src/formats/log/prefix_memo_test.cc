// SPDX-License-Identifier: Apache-2.0
#include "formats/log/prefix_memo.h"

#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "formats/log/writers.h"

namespace unhang::formats::log {
namespace {

void expect_same(const Prefix& got, const Prefix& want, const std::string& line) {
  EXPECT_EQ(got.time.clock, want.time.clock) << line;
  EXPECT_EQ(got.time.ns, want.time.ns) << line;
  EXPECT_EQ(got.host, want.host) << line;
  EXPECT_EQ(got.label, want.label) << line;
  EXPECT_EQ(got.pid, want.pid) << line;
  EXPECT_EQ(got.thread, want.thread) << line;
  EXPECT_EQ(got.global_rank, want.global_rank) << line;
  EXPECT_EQ(got.local_rank, want.local_rank) << line;
  EXPECT_EQ(got.cuda_device, want.cuda_device) << line;
  EXPECT_EQ(got.host_is_nccl, want.host_is_nccl) << line;
  EXPECT_EQ(got.kernel, want.kernel) << line;
  EXPECT_EQ(got.nccl, want.nccl) << line;
  EXPECT_EQ(got.source_file, want.source_file) << line;
  EXPECT_EQ(got.source_line, want.source_line) << line;
  EXPECT_EQ(got.length, want.length) << line;
  EXPECT_EQ(got.pieces, want.pieces) << line;
  EXPECT_EQ(got.delta, want.delta) << line;
  EXPECT_EQ(got.new_node, want.new_node) << line;
  EXPECT_EQ(got.unknown_node, want.unknown_node) << line;
}

// Lines of a few pieces each, so that the same prefix comes again and again in front of other messages.
TEST(PrefixMemo, SaysWhatReadPrefixSays) {
  const std::vector<std::string> pieces{"gpu-1:12:34 [0] NCCL INFO ",
                                        "gpu-1:12:34 NCCL INFO ",
                                        "NCCL INFO ",
                                        "gpu-2:12:35 [1] init.cc:80 NCCL INFO ",
                                        "gpu-1:12:34 [0] NCCL WARN ",
                                        "node7: ",
                                        "3: ",
                                        "[1,3]<stdout>:",
                                        "[rank3]:",
                                        "[default1]:",
                                        "(Worker pid=12) ",
                                        "(Worker pid=12",
                                        "`",
                                        "> ",
                                        "** ",
                                        "2026-02-18T10:48:25.681Z ",
                                        "[ 1843.308145] ",
                                        "[  +0.000316] ",
                                        "proxy.cc:7 (f(int)) ",
                                        "proxy.cc:7 (f",
                                        "text) ",
                                        "Channel 00 ",
                                        "  "};
  std::mt19937 random(7);
  PrefixMemo memo;
  const NodeNames nobody;
  int remembered = 0;
  for (int round = 0; round < 40000; ++round) {
    std::string line;
    for (auto n = 1 + random() % 4; n != 0; --n) line += pieces[random() % pieces.size()];
    std::uint64_t writer = 1;
    const Prefix got = memo.read(line, writer), want = read_prefix(line, nobody);
    expect_same(got, want, line);
    if (writer != 0) {
      ++remembered;
      EXPECT_EQ(writer, writer_hash(want)) << line;
    }
    for (const std::string_view view :
         {got.host, got.label, got.source_file, got.new_node, got.unknown_node}) {
      EXPECT_TRUE(view.empty() || (view.data() >= line.data() && view.data() < line.data() + line.size()))
          << line;
    }
    if (HasFailure()) return;
  }
  EXPECT_GT(remembered, 4000);
}

}  // namespace
}  // namespace unhang::formats::log
