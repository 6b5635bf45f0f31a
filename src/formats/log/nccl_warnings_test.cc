// SPDX-License-Identifier: Apache-2.0
//
// Warnings of all releases as facts: one line, one event.
#include <gtest/gtest.h>

#include "formats/log/lines_for_tests.h"

namespace unhang::formats::log {
namespace {

using K = model::LogEventKind;

struct Case {
  const char* text;
  K kind;
  std::int64_t code = 0;
  std::int32_t rank = -1;
  const char* subject = "";
  const char* peer = "";
  const char* detail = "";
};

void expect(const Case& want, std::string_view prefix = "host-1:10:11 [2] some/file.cc:80 NCCL WARN ") {
  const model::Log log = read_log(std::string(prefix) + want.text + "\n");
  ASSERT_EQ(log.events.size(), 1u) << want.text;
  const model::LogEvent& event = log.events[0];
  EXPECT_EQ(name_of(event.kind), name_of(want.kind)) << want.text;
  EXPECT_EQ(event.code, want.code) << want.text;
  EXPECT_EQ(event.rank, want.rank) << want.text;
  EXPECT_EQ(event.subject, want.subject) << want.text;
  EXPECT_EQ(event.peer, want.peer) << want.text;
  EXPECT_EQ(event.detail, want.detail) << want.text;
}

TEST(NcclWarnings, CompletionsOfAllReleases) {
  expect({.text = "NET/IB : Got completion with error 12, opcode 32698, len 0, vendor err 129",
          .kind = K::kCompletionError,
          .code = 12,
          .detail = "vendor 129"});
  expect(
      {.text =
           "NET/IB : Got completion from peer 10.0.0.3<54891> with error 5, opcode 0, len 0, vendor err 249",
       .kind = K::kCompletionError,
       .code = 5,
       .peer = "10.0.0.3<54891>",
       .detail = "vendor 249"});
  expect({.text = "NET/IB: Got completion from peer 10.0.0.3<54> with status=12 opcode=129 len=1 vendor err "
                  "129 (Recv) localGid ::1 remoteGids::2 hca mlx5_10",
          .kind = K::kCompletionError,
          .code = 12,
          .subject = "mlx5_10",
          .peer = "10.0.0.3<54>",
          .detail = "vendor 129"});
  expect({.text = "NET/IB: Got completion from peer 10.0.0.3<54> with status=IBV_WC_RETRY_EXC_ERR(12) "
                  "opcode=IBV_WC_SEND(0) reqSize=8 vendor_err=129 req_type=Send localGid ::1 remoteGids::2 "
                  "hca mlx5_0",
          .kind = K::kCompletionError,
          .code = 12,
          .subject = "mlx5_0",
          .peer = "10.0.0.3<54>",
          .detail = "vendor 129"});
}

TEST(NcclWarnings, QueuePairsAndVerbs) {
  expect({.text = "Call to ibv_modify_qp failed with error Network is unreachable",
          .kind = K::kQueuePairFailed,
          .code = 101});
  expect({.text = "Call to ibv_modify_qp failed with error Connection timed out errno 110",
          .kind = K::kQueuePairFailed,
          .code = 110});
  expect({.text =
              "Call to ibv_modify_qp failed with 110 Connection timed out, on dev mlx_x:1, curr state INIT, "
              "next state RTR, local GID index 3, local GID ::ffff:10.0.0.5, remote GID ::ffff:10.0.1.6",
          .kind = K::kQueuePairFailed,
          .code = 110,
          .subject = "mlx_x:1",
          .peer = "::ffff:10.0.1.6",
          .detail = "gid 3 ::ffff:10.0.0.5"});
  expect({.text = "Call to ibv_reg_mr_iova2 failed with error Cannot allocate memory",
          .kind = K::kMemoryLock,
          .code = 12,
          .detail = "ibv_reg_mr"});
  expect({.text = "NET/IB : Unable to open device erdma_1",
          .kind = K::kDeviceNotAccessible,
          .subject = "erdma_1"});
  expect({.text = "NET/IB : mlx5_7:1 Got async event : port error",
          .kind = K::kAdapterEvent,
          .code = 1,
          .subject = "mlx5_7:1",
          .detail = "port error"});
  expect({.text = "NET/IB : Got async event : client reregistration",
          .kind = K::kAdapterEvent,
          .code = 0,
          .detail = "client reregistration"});
  expect({.text = "NET/IB : mlx5_1:1 async fatal event: local catastrophic error",
          .kind = K::kAdapterEvent,
          .code = 1,
          .subject = "mlx5_1:1",
          .detail = "local catastrophic error"});
}

TEST(NcclWarnings, Sockets) {
  expect({.text = "socketStartConnect: Connect to 10.0.0.2<45763> failed : Software caused connection abort",
          .kind = K::kConnectFailed,
          .code = 103,
          .peer = "10.0.0.2<45763>"});
  expect({.text = "Net : Connect to 10.0.0.9<54263> failed : No route to host",
          .kind = K::kConnectFailed,
          .code = 113,
          .peer = "10.0.0.9<54263>"});
  expect({.text = "Call to connect failed : Connection timed out", .kind = K::kConnectFailed, .code = 110});
  expect({.text = "socketPollConnect: connect to 10.0.0.9<54263> returned Connection refused, exceeded error "
                  "retry count after 35 attempts",
          .kind = K::kConnectFailed,
          .code = 111,
          .peer = "10.0.0.9<54263>"});
  expect({.text = "socketPollConnect: connect to 10.0.0.9<54263> returned Connection refused, retrying "
                  "(3/34) after sleep for 300 msec",
          .kind = K::kConnectRetry,
          .code = 111,
          .peer = "10.0.0.9<54263>"},
         "h:1:2 [0] NCCL INFO ");
  expect({.text = "socketProgress: Connection closed by remote peer node1<57557>",
          .kind = K::kConnectionClosed,
          .peer = "node1<57557>"});
  expect({.text = "socketProgressOpt: Call to recv from 10.0.0.4<500> failed : Connection reset by peer",
          .kind = K::kConnectionReset,
          .code = 104,
          .peer = "10.0.0.4<500>"});
  expect({.text = "Bootstrap : no socket interface found", .kind = K::kInterfaceMissing});
  expect({.text =
              "NET/Socket : peer 10.0.0.7<40112> message truncated : receiving 524288 bytes instead of 65536",
          .kind = K::kNetSizeMismatch,
          .peer = "10.0.0.7<40112>",
          .detail = "local 65536 remote 524288"});
  expect({.text = "Message truncated : received 128 bytes instead of 64",
          .kind = K::kBootstrapTruncated,
          .detail = "received 128 bytes instead of 64"});
}

TEST(NcclWarnings, StartAndMemory) {
  expect({.text = "Duplicate GPU detected : rank 2 and rank 0 both on CUDA device 1000",
          .kind = K::kDuplicateGpu,
          .code = 0,
          .rank = 2,
          .subject = "1000"});
  expect({.text = "Bootstrap Root : rank 3 of 8 ranks has already checked in",
          .kind = K::kDuplicateRank,
          .code = 8,
          .rank = 3});
  expect({.text = "Bootstrap Root : mismatch in info from procs, nranks 4 vs 8",
          .kind = K::kRankCountMismatch,
          .detail = "4 vs 8"});
  expect({.text = "Mismatched NCCL version detected : rank 0 version 22304 rank 5 version 22602",
          .kind = K::kNcclVersionMismatch,
          .code = 5,
          .rank = 0,
          .detail = "rank 0 version 22304 rank 5 version 22602"});
  expect({.text = "Error: failed to extend /dev/shm/nccl-WU88OE to 9637892 bytes, error: No space left on "
                  "device (28)",
          .kind = K::kSharedMemoryFailed,
          .code = 28,
          .subject = "/dev/shm/nccl-WU88OE",
          .detail = "9637892"});
  expect({.text = "Cuda failure 'out of memory'",
          .kind = K::kCudaOutOfMemory,
          .code = 2,
          .subject = "some/file.cc",
          .detail = "out of memory"});
  expect({.text = "Cuda failure 719 'unspecified launch failure'",
          .kind = K::kCudaError,
          .code = 719,
          .subject = "some/file.cc",
          .detail = "unspecified launch failure"});
  expect({.text = "Cuda failure 1 'invalid argument'",
          .kind = K::kNvlsFailed,
          .code = 1,
          .subject = "transport/nvls.cc",
          .detail = "invalid argument"},
         "h:1:2 [0] transport/nvls.cc:244 NCCL WARN ");
  expect({.text = "Failed to bind NVLink SHARP (NVLS) Multicast memory of size 2097152 : CUDA error 401 'not "
                  "permitted'.",
          .kind = K::kNvlsFailed,
          .code = 401,
          .detail = "not permitted"});
  expect({.text = "Fatal: host threads racing to launch NCCL on same device.", .kind = K::kRacingThreads});
  expect({.text = "Your program may be hanging, this may be caused by a collective mismatch around rank 3. "
                  "Please check",
          .kind = K::kMismatchHint,
          .rank = 3});
  expect({.text = "NET/IB : req 0/1 tag 0 peer 10.0.0.6<58683> collective mismatch error, local size 496640 "
                  "remote size 65536",
          .kind = K::kNetSizeMismatch,
          .peer = "10.0.0.6<58683>",
          .detail = "local 496640 remote 65536"});
  expect({.text = "[Proxy Service 0] Failed to execute operation Connect from rank 0, retcode 2",
          .kind = K::kProxyError,
          .code = 2,
          .rank = 0,
          .detail = "[Proxy Service 0] Failed to execute operation Connect from rank 0, retcode 2"});
}

// What looks like a fault on a machine that has none.
TEST(NcclWarnings, NormalLines) {
  constexpr std::string_view kInfo = "h:1:2 [0] NCCL INFO ";
  expect({.text = "[Service thread] Connection closed by localRank 3", .kind = K::kServiceClosed, .rank = 3},
         kInfo);
  expect({.text = "NET/Plugin: Could not find: libnccl-net.so. Using internal network plugin.",
          .kind = K::kPluginMissing},
         kInfo);
  expect({.text = "NCCL_DEBUG_FILE set by environment to /tmp/x.",
          .kind = K::kEnvironment,
          .subject = "NCCL_DEBUG_FILE",
          .detail = "/tmp/x"},
         kInfo);
  expect({.text = "MY_API_TOKEN set by environment to abc.",
          .kind = K::kEnvironment,
          .subject = "MY_API_TOKEN",
          .detail = "(removed)"},
         kInfo);
  expect({.text = "Using network IBext_v8", .kind = K::kNetworkChosen, .subject = "IBext_v8"}, kInfo);
  expect({.text = "NET/IB : No device found.", .kind = K::kNoHca}, kInfo);
  expect({.text = "proxy.cc:692 -> 6 [Progress Thread]",
          .kind = K::kUnwinding,
          .code = 6,
          .detail = "Progress Thread"},
         kInfo);
  for (const char* text :
       {"Ring 00 : 3 -> 0 -> 1", "dlvsym failed on mlx5dv_get_data_direct_sysfs_path",
        "4096 Bytes -> Algo 1 proto 2 time 9.5", "Using non-device net plugin version 0",
        "Channel 00/02 :    0   1", "comm 0x1 rank 0 nRanks 2 nNodes 1 localRanks 2 localRank 0 MNNVL 0"}) {
    EXPECT_TRUE(read_log(std::string(kInfo) + text + "\n").events.empty()) << text;
  }
}

TEST(NcclWarnings, InterfacesAndAdapters) {
  const model::Log log = read_log(
      "h:1:2 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_1:1/RoCE [RO]; OOB ib0:10.0.0.1<0>\n");
  ASSERT_EQ(log.events.size(), 2u);
  EXPECT_EQ(log.events[0].subject, "mlx5_0:1,mlx5_1:1");
  EXPECT_EQ(log.events[0].detail, "IB,RoCE");
  EXPECT_EQ(log.events[1].subject, "ib0");
  EXPECT_EQ(log.events[1].peer, "10.0.0.1");
}

TEST(NcclWarnings, UnwindingIsOneRecord) {
  const model::Log log = read_log("h:1:2 [0] NCCL INFO init.cc:1 -> 2\nh:1:2 [0] NCCL INFO init.cc:5 -> 2\n");
  ASSERT_EQ(log.events.size(), 1u);
  EXPECT_EQ(log.events[0].count, 2u);
}

TEST(NcclWarnings, Version) {
  EXPECT_EQ(read_log("NCCL version 2.20.5+cuda12.4\n").nccl_version, "2.20.5+cuda12.4");
  EXPECT_EQ(read_log("h:1:2 [0] NCCL INFO NCCL version 2.23.4+cuda12.6\n").nccl_version, "2.23.4+cuda12.6");
}

}  // namespace
}  // namespace unhang::formats::log
