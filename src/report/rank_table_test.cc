// SPDX-License-Identifier: Apache-2.0
#include "report/rank_table.h"

#include <gtest/gtest.h>

namespace unhang::report {
namespace {

using model::IdentityKey;

model::Case two_ranks() {
  model::Case joined;
  joined.inputs = {{"ras.json", "ras", {}}, {"node1/nccl.log", "log", {}}};
  joined.identities = {
      {0,
       {{IdentityKey::kHost, "node1", "log", 1},
        {IdentityKey::kPid, "412", "log", 1},
        {IdentityKey::kPid, "412", "ras", 0},
        {IdentityKey::kGpuOrdinal, "0", "ras", 0},
        {IdentityKey::kGpuBusId, "0000:1c:00.0", "nccl_log", 1}}},
      {1,
       {{IdentityKey::kAddress, "10.0.0.2", "ras", 0},
        {IdentityKey::kPid, "7", "log", 1},
        {IdentityKey::kPid, "413", "ras", 0}}},
  };
  joined.hosts = {{"10.0.0.2", {}, {1}}, {"node1", {"10.0.0.1"}, {0}}};
  joined.conflicts = {{1, "logs name another process than dumps or RAS for rank 1"}};
  return joined;
}

TEST(RankTable, ShowsEachFactWithItsSources) {
  EXPECT_EQ(render_rank_table(two_ranks(), {}),
            "rank  host          pid              GPU\n"
            "0     node1 [L]     412 [LR]         0000:1c:00.0 [N]\n"
            "1     10.0.0.2 [R]  7 [L] | 413 [R]  -\n"
            "told by: R RAS, N NCCL's log, L other log lines. -v shows every fact with its\n"
            "file\n"
            "\n"
            "hosts\n"
            "  10.0.0.2  rank 1\n"
            "  node1  rank 0; also 10.0.0.1\n"
            "\n"
            "what sources tell differently\n"
            "  node1/nccl.log: logs name another process than dumps or RAS for rank 1\n");
}

TEST(RankTable, TellsTheFileOfEachFactWhenAskedForMore) {
  const std::string text = render_rank_table(two_ranks(), {.verbosity = 1});
  EXPECT_NE(text.find("rank 1\n  address        10.0.0.2 (ras, ras.json)\n"), std::string::npos) << text;
  EXPECT_NE(text.find("  gpu bus id     0000:1c:00.0 (nccl log, node1/nccl.log)\n"), std::string::npos)
      << text;
}

TEST(RankTable, FitsTheTerminalAndIsHarmless) {
  model::Case joined = two_ranks();
  joined.identities[0].facts[0].value = std::string(300, 'h') + "\x1b[31m";
  joined.hosts[1].aliases.assign(40, "alias-of-the-machine.example");
  for (const int width : {40, 80, 160}) {
    const std::string text = render_rank_table(joined, {.width = width});
    EXPECT_EQ(text.find('\x1b'), std::string::npos);
    std::size_t begin = 0;
    for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', begin)) {
      EXPECT_LE(end - begin, static_cast<std::size_t>(width) + 8) << text.substr(begin, end - begin);
      begin = end + 1;
    }
  }
}

TEST(RankTable, SaysThatNothingIsKnown) {
  EXPECT_EQ(render_rank_table({}, {}), "no rank is named by any of the inputs\n");
  EXPECT_NE(rank_table_json({}).find("\"ranks\": []"), std::string::npos);
}

TEST(RankTable, JsonNamesTheFile) {
  EXPECT_NE(
      rank_table_json(two_ranks())
          .find("{\"key\": \"gpu_bus_id\", \"value\": \"0000:1c:00.0\", \"source\": \"nccl_log\", \"file\": "
                "\"node1/nccl.log\"}"),
      std::string::npos);
}

}  // namespace
}  // namespace unhang::report
