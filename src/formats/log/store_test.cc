// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "formats/log/told_for_tests.h"

namespace unhang::formats::log {
namespace {

using model::LogEventKind;

constexpr ToldLine kTold[] = {
    {"torch.distributed.DistBackendError: [4] is setting up NCCL communicator and retrieving ncclUniqueId "
     "from [0] "
     "via c10d key-value store by key '0', but store->get('0') got error: Socket Timeout",
     LogEventKind::kStoreKeyMissing, 0, 4, "", "", "Socket Timeout"},
    {"RuntimeError: [3] is setting up NCCL communicator and retreiving ncclUniqueId from [2] via c10d "
     "key-value "
     "store by key '1', but store->get('1') got error: Connection reset by peer",
     LogEventKind::kStoreKeyMissing, 2, 3, "", "", "Connection reset by peer"},
    {"[c10d] The client socket has failed to connect to [node1]:29500 (errno: 110 - Connection timed out).",
     LogEventKind::kStoreUnreachable, 110, -1, "", "[node1]:29500"},
    {"[c10d] The client socket has failed to connect to any network address of (node1, 29500).",
     LogEventKind::kStoreUnreachable, 0, -1, "", "node1:29500"},
    {"torch.distributed.DistNetworkError: The client socket has timed out after 600000ms while trying to "
     "connect to "
     "(10.0.0.1, 29500).",
     LogEventKind::kStoreUnreachable, 0, -1, "", "10.0.0.1:29500"},
    {"[c10d] The client socket has timed out after 60s while trying to connect to 10.0.0.1:1234",
     LogEventKind::kStoreUnreachable, 0, -1, "", "10.0.0.1:1234"},
    {"[c10d] TCP client failed to connect/validate to host 10.0.0.1:48315 - retrying (try=0, "
     "timeout=600000ms, "
     "delay=33924ms): The client socket has timed out after 600000ms",
     LogEventKind::kStoreUnreachable, 0, -1, "", "10.0.0.1:48315"},
    {"[c10d] The IPv4 network addresses of (node1, 29500) cannot be retrieved (gai error: -2 - Name or "
     "service not "
     "known).",
     LogEventKind::kStoreUnreachable, 0, -1, "", "node1:29500"},
    {"RuntimeError: connect() timed out. Original timeout was 60000 ms.", LogEventKind::kStoreUnreachable},
    {"[c10d] The server socket has failed to bind to [::]:29500 (errno: 98 - Address already in use).",
     LogEventKind::kAddressInUse, 98, -1, "", "[::]:29500"},
    {"torch.distributed.DistNetworkError: The server socket has failed to listen on any local network "
     "address. "
     "port: 29500, useIpv6: false, code: -98, name: EADDRINUSE, message: address already in use",
     LogEventKind::kAddressInUse, 98, -1, "", "29500"},
    {"OSError: [Errno 98] Address already in use", LogEventKind::kAddressInUse, 98},
    {"torch.distributed.DistStoreError: wait timeout after 300000ms, keys: /default_pg/0//cuda//0",
     LogEventKind::kStoreTimeout, 0, -1, "", "", "/default_pg/0//cuda//0"},
    {"RuntimeError: Timeout waiting for key: default_pg/0/0 after 1800000 ms", LogEventKind::kStoreTimeout, 0,
     -1, "", "", "default_pg/0/0"},
    {"torch.distributed.DistStoreError: Timed out after 1801 seconds waiting for clients. 1/3 clients "
     "joined.",
     LogEventKind::kStoreTimeout, 0, -1, "", "", "1/3 clients joined."},
    {"RuntimeError: Timed out initializing process group in store based barrier on rank: 1, for key: "
     "store_based_barrier_key:1 (world_size=2, worker_count=1, timeout=0:30:00)",
     LogEventKind::kStoreTimeout, 0, 1, "", "", "1/2 workers came"},
    {"torch.distributed.DistStoreError: Socket Timeout", LogEventKind::kStoreTimeout},
    {"[PG ID 0 PG GUID 0 Rank 1] Failed to check the \"should dump\" flag on TCPStore, (maybe TCPStore "
     "server has "
     "shut down too early), with error: Broken pipe",
     LogEventKind::kStoreClosed},
    {"[c10d] sendBytes failed on SocketImpl(fd=62, addr=[::ffff:10.0.0.2]:54761, "
     "remote=[::ffff:10.0.0.1]:46989): "
     "Broken pipe",
     LogEventKind::kStoreClosed, 0, -1, "", "[::ffff:10.0.0.1]:46989"},
    {"[c10d] recvValue failed on SocketImpl(fd=101, addr=[n1]:50402, remote=[n2]:40027): Failed to recv, got "
     "0 "
     "bytes. Connection was likely closed. Did the remote server shutdown or crash?",
     LogEventKind::kStoreClosed, 0, -1, "", "[n2]:40027"},
    {"torch.distributed.DistNetworkError: Connection reset by peer", LogEventKind::kStoreClosed},
    {"torch.distributed.elastic.rendezvous.api.RendezvousConnectionError: The connection to the C10d store "
     "has "
     "failed. See inner exception for details.",
     LogEventKind::kRendezvousFailed, 0, -1, "", "", "RendezvousConnectionError"},
    {"torch.distributed.elastic.rendezvous.api.RendezvousTimeoutError", LogEventKind::kRendezvousFailed, 0,
     -1, "", "", "RendezvousTimeoutError"},
    {"The node 'h_1_0' has failed to send a keep-alive heartbeat to the rendezvous 'job' due to an error of "
     "type "
     "RendezvousTimeoutError.",
     LogEventKind::kRendezvousFailed, 0, -1, "", "", "RendezvousTimeoutError, heartbeat"},
    {"RuntimeError: [../third_party/gloo/gloo/transport/tcp/pair.cc:598] Connection closed by peer "
     "[10.0.0.1]:8594",
     LogEventKind::kGlooClosed, 0, -1, "", "[10.0.0.1]:8594"},
    {"RuntimeError: [/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:525] Read error [10.0.0.1]:36219: "
     "Connection reset by peer",
     LogEventKind::kGlooClosed, 0, -1, "", "[10.0.0.1]:36219"},
    {"RuntimeError: [../third_party/gloo/gloo/transport/tcp/unbound_buffer.cc:81] Timed out waiting "
     "1800000ms for "
     "recv operation to complete",
     LogEventKind::kGlooTimeout, 1800000},
    {"[/pytorch/third_party/gloo/gloo/transport/tcp/unbound_buffer.cc:78] Timed out waiting 30000ms for send "
     "operation to complete",
     LogEventKind::kGlooTimeout, 30000},
    {"RuntimeError: [gloo/transport/tcp/pair.cc:534] Application timeout caused pair closure",
     LogEventKind::kGlooTimeout, -1},
    {"RuntimeError: Gloo connectFullMesh failed with "
     "[/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:144] no "
     "error",
     LogEventKind::kGlooConnectFailed, 0, -1, "", "",
     "[/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:144] no error"},
    {"RuntimeError: [../third_party/gloo/gloo/transport/tcp/pair.cc:799] connect [127.0.1.1]:23443: "
     "Connection "
     "refused",
     LogEventKind::kGlooConnectFailed, 0, -1, "", "", "connect [127.0.1.1]:23443: Connection refused"},
    {"[W ProcessGroupGloo.cpp:721] Warning: Unable to resolve hostname to a (local) address. Using the "
     "loopback "
     "address as fallback. Manually set the network interface to bind to with GLOO_SOCKET_IFNAME.",
     LogEventKind::kInterfaceChosen, 0, -1, "lo", "127.0.0.1", "gloo"},
    {"RuntimeError: [enforce fail at /pytorch/third_party/gloo/gloo/transport/tcp/device.cc:84] ifa != "
     "nullptr. "
     "Unable to find address for: ib0",
     LogEventKind::kInterfaceMissing, 0, -1, "ib0"},
    {"what():  [enforce fail at third_party/gloo/gloo/transport/tcp/pair.cc:446] op.preamble.length <= "
     "op.nbytes. "
     "256000 vs 128000",
     LogEventKind::kNetSizeMismatch, 0, -1, "", "", "local 128000 remote 256000"},
};

TEST(StoreFamily, TellsKindsOfAllWordings) {
  EXPECT_EQ(not_told(store_family, kTold), "");
}
TEST(StoreFamily, HoldsOnDamagedLines) {
  EXPECT_LE(most_events_of_damaged(store_family, kTold), 8u);
}

TEST(StoreFamily, OrdinaryLinesAreQuiet) {
  constexpr std::string_view kLines[] = {
      // IPv6 is tried first on machines without it
      "[c10d] The client socket has failed to connect to [localhost]:29500 (errno: 99 - Cannot assign "
      "requested "
      "address).",
      "[c10d] The server socket has failed to bind to [::]:29500 (errno: 97 - Address family not supported "
      "by "
      "protocol).",
      "[c10d] The IPv6 network addresses of (node1, 29500) cannot be retrieved (gai error: -2 - Name or "
      "service not "
      "known).",
      "[c10d] The client socket has connected to [node1]:29500 on [node2]:40000.",
      "[c10d] The server socket has started to listen on [::]:29500.",
      "[Gloo] Rank 0 is connected to 1 peer ranks. Expected number of connected peer ranks is : 1",
      "Waiting in store based barrier to initialize process group for rank: 1, key: "
      "store_based_barrier_key:1 "
      "(world_size=4, worker_count=1, timeout=0:30:00)",
      // how a job of several nodes ends
      "The node 'h_1_0' has failed to shutdown the rendezvous 'none' due to an error of type "
      "RendezvousConnectionError.",
      "The connection was closed by the client",
      "Received request 1: prompt: 'RuntimeError: Broken pipe'",
  };
  EXPECT_EQ(told_of(store_family, kLines), "");
}

}  // namespace
}  // namespace unhang::formats::log
