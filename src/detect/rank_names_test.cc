// SPDX-License-Identifier: Apache-2.0
#include "detect/rank_names.h"

#include <gtest/gtest.h>

namespace unhang::detect {
namespace {

using model::IdentityKey;
using Ranks = std::vector<std::int32_t>;

model::Case two_ranks_on_a_host() {
  model::Case joined;
  joined.hosts = {{"node1", {"10.0.0.1", "node1.example"}, {0, 1}}, {"node2", {}, {2}}};
  joined.identities = {
      {0,
       {{IdentityKey::kHost, "node1", "log", {}},
        {IdentityKey::kPid, "100", "log", {}},
        {IdentityKey::kGpuBusId, "0000:1c:00.0", "nccl_log", {}}}},
      {1,
       {{IdentityKey::kHost, "node1", "log", {}},
        {IdentityKey::kPid, "101", "log", {}},
        {IdentityKey::kContainerPid, "7", "manifest", {}},
        {IdentityKey::kGpuBusId, "0000:b3:00.0", "nccl_log", {}}}},
      {2,
       {{IdentityKey::kHost, "node2", "log", {}},
        {IdentityKey::kPid, "100", "log", {}},
        {IdentityKey::kGpuBusId, "0000:b3:00.0", "nccl_log", {}}}},
  };
  return joined;
}

TEST(RankNames, FindsRanksByProcessDeviceAndHost) {
  const RankNames names(two_ranks_on_a_host());
  EXPECT_EQ(names.of_process("10.0.0.1", 100), Ranks{0});
  EXPECT_EQ(names.of_process("node1.example", 7), Ranks{1});
  EXPECT_EQ(names.of_process("node2", 100), Ranks{2});
  EXPECT_EQ(names.of_process("node2", 7), Ranks{});
  EXPECT_EQ(names.of_process("", 101), Ranks{}) << "containers count from 1 on every machine";
  EXPECT_EQ(names.of_gpu("", "0000:1c:00.0"), Ranks{0});
  EXPECT_EQ(names.of_gpu("", "0000:b3:00.0"), Ranks{}) << "two hosts have such a device";
  EXPECT_TRUE(names.knows_all_gpus_of("node1"));
  EXPECT_FALSE(names.knows_all_gpus_of("node3"));
  EXPECT_EQ(names.of_gpu("node1", "00000000:B3:00"), Ranks{1});
  EXPECT_EQ(names.of_gpu("node1", "no address"), Ranks{});
  EXPECT_EQ(names.on_host("node1.example"), (Ranks{0, 1}));
  EXPECT_TRUE(names.knows_processes_of("10.0.0.1"));
  EXPECT_FALSE(names.knows_processes_of("node3"));
  EXPECT_FALSE(names.knows_processes_of(""));
}

TEST(RankNames, CompletesASubjectThatIsOneProcessOrDevice) {
  const RankNames names(two_ranks_on_a_host());
  model::Subject gpu;
  gpu.kind = model::SubjectKind::kGpu;
  gpu.host = "10.0.0.1";
  gpu.gpu = "0000:b3:00";
  names.complete(gpu);
  EXPECT_EQ(gpu.rank, 1);
  EXPECT_EQ(gpu.host, "node1");
  model::Subject host;
  host.kind = model::SubjectKind::kHost;
  host.host = "node1";
  names.complete(host);
  EXPECT_FALSE(host.rank);
}

TEST(RankNames, KnowsNobodyWithoutEvidence) {
  const RankNames names;
  model::Subject process;
  process.kind = model::SubjectKind::kProcess;
  process.host = "node1";
  process.pid = 100;
  names.complete(process);
  EXPECT_FALSE(process.rank);
  EXPECT_EQ(names.on_host(""), Ranks{});
}

}  // namespace
}  // namespace unhang::detect
