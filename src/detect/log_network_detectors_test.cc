// SPDX-License-Identifier: Apache-2.0
//
// Links, RDMA, sockets and the paths between GPUs, as logs tell of them.
#include <cerrno>

#include <gtest/gtest.h>

#include "detect/log_case_for_tests.h"

namespace unhang::detect {
namespace {

using model::CommunicatorPhase;
using model::LogEventKind;

LogCase& on(LogCase& c, const std::string& host) {
  return c.file(host + ".log").by({.host = host, .pid = 100});
}

LogCase& completion(LogCase& c, const std::string& host, std::int64_t status, std::string peer) {
  return on(c, host).says(LogEventKind::kCompletionError,
                          {.code = status, .subject = "mlx5_0", .peer = std::move(peer)});
}

// --- log_link ---

TEST(LogLink, DownWhileOthersComplain) {
  LogCase c;
  on(c, "node2").says(LogEventKind::kLinkDown, {.subject = "mlx5_3"});
  completion(c, "node1", 12, "10.0.0.2<4000>");
  EXPECT_EQ(c.told(find_log_link), "transport_stall/link_down medium: nic mlx5_3 of node2");
}

TEST(LogLink, AnEventOfTheAdapter) {
  LogCase c;
  on(c, "node2").says(LogEventKind::kAdapterEvent, {.code = 1, .subject = "mlx5_3", .detail = "port error"});
  EXPECT_EQ(c.told(find_log_link), "transport_stall/link_down medium: nic mlx5_3 of node2");
}

TEST(LogLink, OnSeveralHostsNobodyIsBlamed) {
  LogCase c;
  for (const char* host : {"node1", "node2"})
    on(c, host).says(LogEventKind::kAdapterEvent, {.code = 1, .subject = "mlx5_3", .detail = "port error"});
  EXPECT_EQ(c.told(find_log_link), "transport_stall/link_down medium ? node1, node2");
}

TEST(LogLink, AnAdapterThatFails) {
  LogCase kernel;
  on(kernel, "node2").says(LogEventKind::kAdapterFault, {.subject = "mlx5_core 0000:ab:00.0"});
  EXPECT_EQ(kernel.told(find_log_link),
            "transport_stall/hca_fault medium: nic mlx5_core 0000:ab:00.0 of node2");
  LogCase event;
  on(event, "node2")
      .says(LogEventKind::kAdapterEvent,
            {.code = 1, .subject = "mlx5_0", .detail = "local catastrophic error"});
  EXPECT_EQ(event.told(find_log_link), "transport_stall/hca_fault medium: nic mlx5_0 of node2");
}

TEST(LogLink, NobodyComplains) {
  LogCase c;
  on(c, "node2").says(LogEventKind::kLinkDown, {.subject = "eno4"});
  EXPECT_EQ(c.told(find_log_link), "transport_stall/link_down low ? nic eno4 of node2 (tentative)");
}

TEST(LogLink, WhatLooksLikeIt) {
  LogCase c;
  on(c, "node2").says(LogEventKind::kLinkUp, {.subject = "mlx5_3"});
  c.says(LogEventKind::kAdapterEvent, {.code = 0, .subject = "mlx5_0", .detail = "GID table change"});
  c.says(LogEventKind::kAdapterEvent, {.code = 0, .subject = "mlx5_0", .detail = "client reregistration"});
  EXPECT_EQ(c.told(find_log_link), "nothing");
}

// --- log_rdma ---

TEST(LogRdma, NoAcknowledgement) {
  LogCase c;
  completion(c, "node1", 12, "10.0.0.9<4000>");
  completion(c, "node2", 12, "10.0.0.9<4001>");
  const auto found = c.run(find_log_rdma);
  EXPECT_EQ(LogCase::tell(found), "transport_stall/ib_retry_exceeded medium ? 10.0.0.9");
  ASSERT_EQ(found[0].alternatives.size(), 1u);
  EXPECT_EQ(found[0].alternatives[0].cause, "process_exited");
}

TEST(LogRdma, OneReporterTowardsMany) {
  LogCase c;
  completion(c, "node1", 12, "10.0.0.8<4000>");
  completion(c, "node1", 12, "10.0.0.9<4000>");
  EXPECT_EQ(c.told(find_log_rdma), "transport_stall/ib_retry_exceeded medium ? node1");
}

TEST(LogRdma, FlushesFollowAndAreNotTheRoot) {
  LogCase c;
  completion(c, "node1", 5, "10.0.0.8<4000>");
  completion(c, "node1", 12, "10.0.0.9<4000>");
  completion(c, "node1", 5, "10.0.0.7<4000>");
  EXPECT_EQ(c.told(find_log_rdma), "transport_stall/ib_retry_exceeded medium ? 10.0.0.9, node1");
}

TEST(LogRdma, FlushesAloneSayThatSomethingIsMissing) {
  LogCase c;
  completion(c, "node1", 5, "10.0.0.8<4000>");
  const auto found = c.run(find_log_rdma);
  EXPECT_EQ(LogCase::tell(found), "transport_stall/unknown low (tentative)");
  EXPECT_EQ(found[0].headline,
            "only flushed work requests (status 5) are in the log: they follow an error that is not in it");
}

TEST(LogRdma, MemoryAndReceiver) {
  for (const std::int64_t status : {4, 10, 11}) {
    LogCase c;
    completion(c, "node1", status, "10.0.0.9<4000>");
    EXPECT_EQ(c.told(find_log_rdma), "transport_stall/gdr_broken medium") << status;
  }
  LogCase not_ready;
  completion(not_ready, "node1", 13, "10.0.0.9<4000>");
  EXPECT_EQ(not_ready.told(find_log_rdma), "transport_stall/rnr medium ? 10.0.0.9, node1");
}

TEST(LogRdma, QueuePairs) {
  LogCase c;
  on(c, "node1").says(LogEventKind::kQueuePairFailed, {.code = ETIMEDOUT, .subject = "mlx5_0"});
  EXPECT_EQ(c.told(find_log_rdma), "initialization_hang/gid_or_route medium ? node1");
  EXPECT_EQ(c.diagnosed().headline,
            "an RDMA connection of node1 cannot be made: no answer to address resolution (route, rail or "
            "firewall): check GID index and routes");
  LogCase lazy;  // the communicator stood; connections are made at the first use
  on(lazy, "node1").communicator({.rank = 0, .ranks = 2});
  lazy.says(LogEventKind::kQueuePairFailed, {.code = EINVAL, .subject = "mlx5_0"});
  EXPECT_EQ(lazy.told(find_log_rdma), "transport_stall/gid_or_route medium ? node1");
}

TEST(LogRdma, WhatLooksLikeIt) {
  LogCase c;
  on(c, "node1").says(LogEventKind::kHcaList, {.subject = "mlx5_0:1", .detail = "RoCE"});
  c.says(LogEventKind::kNoHca).says(LogEventKind::kPluginMissing).says(LogEventKind::kGidTable);
  EXPECT_EQ(c.told(find_log_rdma), "nothing");
}

// --- log_network_path ---

TEST(LogNetworkPath, WhileTheBootstrapIsMade) {
  LogCase c;
  on(c, "node1").says(LogEventKind::kConnectFailed, {.code = EHOSTUNREACH, .peer = "10.0.0.9<4000>"});
  EXPECT_EQ(c.told(find_log_network_path), "initialization_hang/bootstrap_unreachable medium ? 10.0.0.9");
}

TEST(LogNetworkPath, AfterTheCommunicatorStood) {
  LogCase c;
  on(c, "node1").communicator({.rank = 0, .ranks = 2});
  c.says(LogEventKind::kConnectFailed, {.code = ETIMEDOUT, .peer = "10.0.0.9<4000>"});
  EXPECT_EQ(c.told(find_log_network_path), "initialization_hang/peer_unreachable medium ? 10.0.0.9");
  c.give_up({0});
  EXPECT_EQ(c.told(find_log_network_path), "transport_stall/peer_unreachable medium ? 10.0.0.9");
}

TEST(LogNetworkPath, AnAddressThatEveryHostHas) {
  for (const char* peer : {"127.0.0.1<4000>", "172.17.0.1<4000>", "[::1]<4000>"}) {
    LogCase c;
    on(c, "node1").says(LogEventKind::kConnectFailed, {.code = ECONNREFUSED, .peer = peer});
    EXPECT_EQ(c.told(find_log_network_path), "initialization_hang/interface_mismatch medium") << peer;
  }
  LogCase chosen;
  on(chosen, "node1").says(LogEventKind::kInterfaceChosen, {.subject = "docker0", .peer = "172.17.0.1<0>"});
  chosen.says(LogEventKind::kConnectFailed, {.code = ECONNREFUSED, .peer = "10.0.0.9<4000>"});
  EXPECT_EQ(chosen.told(find_log_network_path), "initialization_hang/interface_mismatch low");
}

TEST(LogNetworkPath, RetriesThatNeverSucceed) {
  LogCase c;
  on(c, "node1")
      .says(LogEventKind::kConnectRetry, {.code = ECONNREFUSED, .peer = "10.0.0.9<4000>", .count = 9});
  EXPECT_EQ(c.told(find_log_network_path), "initialization_hang/bootstrap_unreachable low ? 10.0.0.9");
}

TEST(LogNetworkPath, WhatLooksLikeIt) {
  LogCase retried;  // and then it stood
  on(retried, "node1").says(LogEventKind::kConnectRetry, {.code = ECONNREFUSED, .peer = "10.0.0.9<4000>"});
  retried.communicator({.rank = 0, .ranks = 2});
  EXPECT_EQ(retried.told(find_log_network_path), "nothing");
  LogCase one_host;  // loopback is right where all ranks are on one host
  on(one_host, "node1").says(LogEventKind::kInterfaceChosen, {.subject = "lo", .peer = "127.0.0.1<0>"});
  EXPECT_EQ(one_host.told(find_log_network_path), "nothing");
}

// --- log_peer_access ---

TEST(LogPeerAccess, TheIommuRefuses) {
  LogCase c;
  c.by({.host = "node1"}).says(LogEventKind::kIommuFault, {.subject = "61:00.0"});
  EXPECT_EQ(c.told(find_log_peer_access), "transport_stall/p2p_blocked_by_iommu_or_acs medium");
}

// Everything was made, and then nothing more came.
TEST(LogPeerAccess, SilenceAfterTheStart) {
  LogCase c;
  for (const int rank : {0, 1}) {
    c.by({.host = "node1", .pid = rank + 1});
    c.communicator({.rank = rank, .ranks = 2, .p2p = 4});
  }
  c.says(LogEventKind::kIommuEnabled);
  const auto found = c.run(find_log_peer_access);
  EXPECT_EQ(LogCase::tell(found), "transport_stall/p2p_blocked_by_iommu_or_acs low (tentative)");
  ASSERT_EQ(found[0].alternatives.size(), 1u);
  EXPECT_EQ(found[0].alternatives[0].cause, "after_init");
}

TEST(LogPeerAccess, GpusThatMeetAtTheHostAndSomebodyWaits) {
  LogCase c;
  c.give_up({0, 1});
  EXPECT_EQ(c.told(find_log_peer_access), "nothing");
  model::TopologyTable table;
  table.names = {"GPU0", "GPU1"};
  table.row_names = {"GPU0", "GPU1"};
  table.cells = {{"X", "SYS"}, {"SYS", "X"}};
  c.log().topologies.push_back(table);
  EXPECT_EQ(c.told(find_log_peer_access).substr(0, 47), "transport_stall/p2p_blocked_by_iommu_or_acs low");
  c.log().topologies[0].cells = {{"X", "NV18"}, {"NV18", "X"}};
  EXPECT_EQ(c.told(find_log_peer_access), "nothing");
}

TEST(LogPeerAccess, TheHintOfOldReleases) {
  LogCase c;
  c.by_rank(1).says(LogEventKind::kMismatchHint, {.rank = 1});
  EXPECT_EQ(c.told(find_log_peer_access), "inconclusive/unknown low (tentative)");
  c.says(LogEventKind::kAcsEnabled, {.subject = "0000:80:01.1"});
  EXPECT_EQ(c.told(find_log_peer_access), "transport_stall/p2p_blocked_by_iommu_or_acs low (tentative)");
}

TEST(LogPeerAccess, WhatLooksLikeIt) {
  LogCase steps;  // a job that goes on
  for (const int rank : {0, 1}) {
    steps.by({.host = "node1", .pid = rank + 1});
    steps.communicator({.rank = rank, .ranks = 2, .p2p = 4});
  }
  steps.says(LogEventKind::kIommuEnabled).says(LogEventKind::kTrainingStep, {.code = 1});
  EXPECT_EQ(steps.told(find_log_peer_access), "nothing");
  LogCase ended;  // and one that ended in good order
  for (const int rank : {0, 1}) {
    ended.by({.host = "node1", .pid = rank + 1});
    ended.communicator({.rank = rank, .ranks = 2, .reached = CommunicatorPhase::kDestroyed, .p2p = 4});
  }
  EXPECT_EQ(ended.told(find_log_peer_access), "nothing");
  LogCase nothing_ran;  // a look at a machine
  nothing_ran.says(LogEventKind::kIommuEnabled).says(LogEventKind::kPeerAccessOk, {.subject = "0,1"});
  EXPECT_EQ(nothing_ran.told(find_log_peer_access), "nothing");
}

// --- log_slow_path ---

TEST(LogSlowPath, Degradations) {
  LogCase gdr;
  gdr.says(LogEventKind::kGpuDirectDisabled, {.subject = "mlx5_0"});
  EXPECT_EQ(gdr.told(find_log_slow_path), "performance_degradation/gdr_disabled low (tentative)");
  LogCase hot;
  hot.says(LogEventKind::kThrottled, {.subject = "GPU 3", .detail = "HW thermal slowdown"});
  EXPECT_EQ(hot.told(find_log_slow_path), "performance_degradation/gpu_throttled low (tentative)");
  LogCase blind;
  blind.says(LogEventKind::kSysfsMissing);
  EXPECT_EQ(blind.told(find_log_slow_path), "performance_degradation/topology_drift low (tentative)");
}

TEST(LogSlowPath, SocketsBetweenHosts) {
  LogCase c;
  on(c, "node1").communicator({.rank = 0, .ranks = 2, .socket = 2, .nodes = 2});
  c.says(LogEventKind::kNoHca).says(LogEventKind::kNetworkChosen, {.subject = "Socket"});
  const auto found = c.run(find_log_slow_path);
  EXPECT_EQ(LogCase::tell(found), "performance_degradation/fell_back_to_socket low (tentative)");
  EXPECT_EQ(
      found[0].headline,
      "NCCL goes over TCP sockets between hosts: it found no RDMA adapter in the container or on the host");
}

TEST(LogSlowPath, WhatLooksLikeIt) {
  LogCase one_host;  // the network that one host has no use for
  for (const int rank : {0, 1}) {
    on(one_host, "node1").communicator({.rank = rank, .ranks = 2, .p2p = 4, .nodes = 1});
  }
  one_host.says(LogEventKind::kNoHca).says(LogEventKind::kNetworkChosen, {.subject = "Socket"});
  EXPECT_EQ(one_host.told(find_log_slow_path), "nothing");
  LogCase plugin;
  plugin.says(LogEventKind::kPluginMissing, {.subject = "libnccl-net.so"});
  EXPECT_EQ(plugin.told(find_log_slow_path), "nothing");
  LogCase stands;  // what stands is not slow
  stands.says(LogEventKind::kGpuDirectDisabled).give_up({0, 1});
  EXPECT_EQ(stands.told(find_log_slow_path), "nothing");
}

}  // namespace
}  // namespace unhang::detect
