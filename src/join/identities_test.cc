// SPDX-License-Identifier: Apache-2.0
#include "join/identities.h"

#include <gtest/gtest.h>

#include "join/log_ranks.h"

namespace unhang::join {
namespace {

using model::Case;
using model::IdentityKey;

// Ranks 0 and 1 on node1, 2 and 3 on node2: known to RAS by address, to NCCL's log by name.
Case two_hosts() {
  Case joined;
  joined.inputs = {{"ras.json", "ras", {}}, {"node2/nccl.log", "log", {}}};
  joined.ras.views.emplace_back();
  joined.ras.views[0].sources = {0};
  model::RasCommunicator world;
  world.hash = 0xabc;
  world.size = 4;
  for (int rank = 0; rank < 4; ++rank) {
    joined.ranks.emplace_back();
    joined.ranks.back().global_rank = rank;
    model::RasRank ras;
    ras.rank = ras.global_rank = rank;
    ras.host = rank < 2 ? "10.0.0.1" : "10.0.0.2";
    ras.pid = 100 + rank;
    ras.cuda_device = rank % 2;
    world.ranks.push_back(ras);
    joined.ranks.back().host = ras.host;
    joined.ranks.back().pid = ras.pid;
  }
  joined.ras.views[0].communicators.push_back(world);
  for (int rank = 2; rank < 4; ++rank) {
    model::LogOrigin origin;
    origin.host = "node2";
    origin.pid = 100 + rank;
    joined.logs.origins.push_back(origin);
    model::LogCommunicator own;
    own.origin = static_cast<std::uint32_t>(rank - 2);
    own.input = 1;
    own.id = 0xabc;
    own.rank = rank;
    own.ranks = 4;
    own.bus_id = rank == 2 ? "1c000" : "b3000";
    joined.logs.communicators.push_back(own);
  }
  joined.logs.lines = 4;
  return joined;
}

const model::RankIdentity& identity(const Case& joined, std::int32_t rank) {
  for (const auto& known : joined.identities) {
    if (known.global_rank == rank) return known;
  }
  ADD_FAILURE() << rank;
  return joined.identities.front();
}

std::vector<std::string> values(const model::RankIdentity& identity, IdentityKey key) {
  std::vector<std::string> out;
  for (const auto& fact : identity.facts) {
    if (fact.key == key) out.push_back(fact.value + " (" + fact.source + ")");
  }
  return out;
}

TEST(Identities, CommunicatorAndRankJoinRasAndLogs) {
  Case joined = two_hosts();
  join_identities({}, joined);
  EXPECT_EQ(joined.logs.origins[1].global_rank, 3);
  EXPECT_EQ(joined.ranks[3].host, "node2");
  EXPECT_EQ(joined.ranks[0].host, "10.0.0.1");
  EXPECT_EQ(joined.ras.views[0].communicators[0].ranks[3].host, "node2");
  ASSERT_EQ(joined.hosts.size(), 2U);
  EXPECT_EQ(joined.hosts[1].name, "node2");
  EXPECT_EQ(joined.hosts[1].aliases, std::vector<std::string>{"10.0.0.2"});
  EXPECT_EQ(joined.hosts[1].ranks, (std::vector<std::int32_t>{2, 3}));
  EXPECT_EQ(joined.hosts[0].ranks, (std::vector<std::int32_t>{0, 1}));
  EXPECT_EQ(values(identity(joined, 3), IdentityKey::kGpuBusId),
            std::vector<std::string>{"0000:b3:00.0 (nccl_log)"});
  EXPECT_EQ(values(identity(joined, 3), IdentityKey::kPid),
            (std::vector<std::string>{"103 (log)", "103 (ras)"}));
  EXPECT_TRUE(joined.conflicts.empty());
}

// The same place in the communicator with another pid is another process: another run.
TEST(Identities, AnotherPidAtTheSamePlaceIsNotTheSameMachine) {
  Case joined = two_hosts();
  joined.logs.origins[0].pid = 999;
  joined.logs.origins[1].pid = 998;
  join_identities({}, joined);
  EXPECT_EQ(joined.ranks[3].host, "10.0.0.2");
  EXPECT_EQ(joined.logs.origins[1].global_rank, -1);
}

TEST(Identities, RasDecidesWhichRankAProcessIsAndSaysSo) {
  Case joined = two_hosts();
  joined.logs.origins[1].global_rank = 7;
  join_identities({}, joined);
  EXPECT_EQ(joined.logs.origins[1].global_rank, 3);
  ASSERT_EQ(joined.conflicts.size(), 1U);
  EXPECT_EQ(joined.conflicts[0].text,
            "lines give another rank than RAS to the process of rank 3: taken as RAS says");
}

TEST(Identities, LogsCompleteRanksThatOnlyLeftADump) {
  Case joined = two_hosts();
  joined.ras.views.clear();
  joined.ranks[3].host.clear();
  joined.ranks[3].pid = -1;
  joined.ranks[2].pid = 5555;
  joined.logs.origins[0].global_rank = 2;
  joined.logs.origins[1].global_rank = 3;
  joined.logs.origins[1].cuda_device = 1;
  join_identities({}, joined);
  EXPECT_EQ(joined.ranks[3].host, "node2");
  EXPECT_EQ(joined.ranks[3].pid, 103);
  EXPECT_EQ(joined.ranks[3].cuda_device, 1);
  EXPECT_EQ(joined.ranks[2].pid, 5555);
  ASSERT_EQ(joined.conflicts.size(), 1U);
  EXPECT_EQ(joined.conflicts[0].text,
            "logs name another process than dumps or RAS for rank 2: another run or job may be among them");
}

model::Log of_communicators(std::vector<std::tuple<std::string, int, int, int, std::string>> rows) {
  model::Log log;
  for (const auto& [host, pid, rank, ranks, bus] : rows) {
    model::LogOrigin origin;
    origin.host = host;
    origin.pid = pid;
    log.origins.push_back(origin);
    model::LogCommunicator own;
    own.origin = static_cast<std::uint32_t>(log.origins.size() - 1);
    own.rank = rank;
    own.ranks = ranks;
    own.bus_id = bus;
    log.communicators.push_back(own);
  }
  return log;
}

TEST(LogRanks, OfTwoReplicasNeitherStandsForTheJob) {
  model::Log replicas =
      of_communicators({{"a", 1, 0, 2, "1c000"}, {"a", 2, 1, 2, "2c000"}, {"b", 1, 0, 2, "1c000"}});
  give_ranks(replicas);
  for (const auto& origin : replicas.origins) EXPECT_EQ(origin.global_rank, -1);
  model::Log restarted =
      of_communicators({{"a", 1, 0, 2, "1c000"}, {"a", 2, 1, 2, "2c000"}, {"a", 9, 0, 2, "1c000"}});
  give_ranks(restarted);
  EXPECT_EQ(restarted.origins[2].global_rank, 0);
  EXPECT_EQ(restarted.origins[1].global_rank, 1);
}

TEST(LogRanks, ACommunicatorThatIsSmallerThanTheJobDoesNotStandForIt) {
  model::Log log = of_communicators({{"a", 1, 0, 2, "1c000"}, {"a", 2, 1, 2, "2c000"}});
  give_ranks(log, 4);
  EXPECT_EQ(log.origins[1].global_rank, -1);
  give_ranks(log, 2);
  EXPECT_EQ(log.origins[1].global_rank, 1);
}

}  // namespace
}  // namespace unhang::join
