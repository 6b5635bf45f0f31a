// SPDX-License-Identifier: Apache-2.0
#include "join/dump_name.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

namespace unhang::join {
namespace {

struct Known {
  const char* path;
  std::optional<std::int32_t> rank;
  const char* host;
};

TEST(DumpName, RankAndHost) {
  const Known names[] = {
      {"/tmp/nccl_trace_rank_12", 12, ""},
      {"comm_lib_trace_rank_0", 0, ""},
      {"_dump_3.json.gz", 3, ""},
      {"run.tar!dumps/_dump_7", 7, ""},
      {"nccl_trace_rank_node02_0", 0, "node02"},
      {"nccl_trace_rank_gpu-a-17_35", 35, "gpu-a-17"},
      {"node3_nccl_trace_rank_8.pkl", 8, "node3"},
      {"flight_recorder_rank_5.pickle.zst", 5, ""},
      {"dump-rank4.bin", 4, "dump"},
      {"dir_9/dump", std::nullopt, ""},
      {"notes.txt", std::nullopt, "notes"},
      {"", std::nullopt, ""},
      {"007", 7, ""},
      {"rank_999999999", 999999999, ""},
      {"trace_12345678901234567890", std::nullopt, ""},  // a process id or a time, not a rank
  };
  for (const Known& known : names) {
    const DumpName read = read_dump_name(known.path);
    EXPECT_EQ(read.rank, known.rank) << known.path;
    if (std::string_view(known.path) != "dump-rank4.bin" && std::string_view(known.path) != "notes.txt")
      EXPECT_EQ(read.host, known.host) << known.path;
  }
}

// A host whose name ends with digits is not cut in two by them.
TEST(DumpName, DigitsOfTheHostAreNotTheRank) {
  EXPECT_EQ(read_dump_name("node02_nccl_trace_rank_1").host, "node02");
  EXPECT_EQ(read_dump_name("nccl_trace_rank_ip-10-0-3-4_2").host, "ip-10-0-3-4");
  EXPECT_EQ(read_dump_name("nccl_trace_rank_ip-10-0-3-4_2").rank, 2);
}

TEST(DumpName, AnyTextIsAnswered) {
  EXPECT_TRUE(rc::check("any name", [](const std::string& path) {
    const DumpName read = read_dump_name(path);
    RC_ASSERT(!read.rank || *read.rank >= 0);
  }));
  EXPECT_TRUE(rc::check("rank at the end", [] {
    const auto rank = *rc::gen::inRange(0, 100000);
    RC_ASSERT(read_dump_name("x/nccl_trace_rank_" + std::to_string(rank)).rank == rank);
  }));
}

}  // namespace
}  // namespace unhang::join
