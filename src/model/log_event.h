// SPDX-License-Identifier: Apache-2.0
//
// What one line (or a few that belong together) of a text log says, freed from its wording: readers of all
// releases, launchers and engines meet in this list of kinds. Each kind has a role prior: whether such a line
// tells a cause, a consequence of something earlier, either, or nothing unusual at all.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace unhang::model {

// The clock of a time in a log. A time is kept as what it is; join/ aligns where that is possible.
enum class LogClock : std::uint8_t {
  kNone,         // no time on the line
  kUtc,          // nanoseconds since 1970, zone stated
  kLocal,        // nanoseconds since 1970 as if the wall clock were UTC; zone not stated
  kLocalNoYear,  // as kLocal, of the year 1972 (a leap year): month, day and time of day are known
  kUptime,       // nanoseconds since the machine started
};

struct LogTime {
  LogClock clock = LogClock::kNone;
  std::int64_t ns = 0;
  bool known() const { return clock != LogClock::kNone; }
};

// In each comment: what `code`, `subject`, `peer`, `rank`, `detail` hold for the kind, where the line has it.
// Everything that a kind does not name stays empty.
enum class LogEventKind : std::uint8_t {
  // --- NCCL, while a communicator is made ---------------------------------------------------------------
  kInterfaceMissing,  // no socket interface found; subject: interface or NCCL_SOCKET_IFNAME's value
  kInterfaceChosen,   // subject: interface, peer: its address, detail: "bootstrap" or "socket"
  kNetworkChosen,     // subject: "IB", "Socket", plugin's name
  kHcaList,           // NET/IB : Using …; subject: devices joined by ',' as printed; detail: "IB" or "RoCE"
  kNoHca,             // NET/IB : No device found
  kPluginLoaded,      // subject: plugin's path or name
  kPluginMissing,     // a net plugin was not found: normal on most machines
  kEnvironment,       // subject: variable, detail: value ("set by environment", nccl.conf, plain VAR=value)
  kConnectFailed,     // code: errno, peer: address
  kConnectRetry,      // as kConnectFailed, but it tries again (INFO)
  kConnectionClosed,  // closed by remote peer; peer: host or address
  kConnectionReset,   // recv/send failed; code: errno, peer
  kDuplicateGpu,      // rank, code: the other rank, subject: bus id as printed (hex)
  kDuplicateRank,     // rank has already checked in; code: number of ranks
  kRankCountMismatch,    // mismatch in info from procs; detail: "4 vs 8"
  kBootstrapTruncated,   // Message truncated in bootstrap; detail: "received A bytes instead of B"
  kNcclVersionMismatch,  // detail: "rank A version X rank B version Y"; rank: A, code: B
  kNetDeviceMismatch,    // mixed local net device counts
  kSharedMemoryFailed,   // /dev/shm too small or not usable; code: errno, subject: path, detail: size
  kDeviceNotAccessible,  // a device node cannot be opened; subject: device, code: errno
  kMemoryLock,           // RDMA memory cannot be registered or locked; code: errno, detail: call
  kRacingThreads,        // host threads racing to launch NCCL on same device
  kGpuDirectDisabled,    // GPU Direct RDMA disabled; subject: HCA
  kPeerAccessDisabled,   // P2P is disabled between connected GPUs; subject: "A,B"
  kPeerAccessOk,         // topo -p2p or p2pBandwidthLatencyTest: access is there; subject "A,B"
  kPeerAccessMissing,    // CANNOT Access Peer; subject: "A,B"
  kSysfsMissing,         // /sys is not visible: topology is not known
  kMnnvl,                // multi-node NVLink in use or its failure; detail: text
  // --- NCCL, running --------------------------------------------------------------------------------------
  kCudaError,        // code: CUDA error number (-1: not printed), detail: its text, subject: source file
  kCudaOutOfMemory,  // GPU memory; subject: source or exception type
  kNvlsFailed,       // multicast bind or create failed; code: CUDA error
  kQueuePairFailed,  // ibv_modify_qp; code: errno, subject: HCA, peer: remote GID, detail: "gid 3 LOCAL"
  kCompletionError,  // code: ibv_wc_status, subject: HCA, peer: address, detail: "vendor 129"
  kAdapterEvent,     // async event; subject: HCA, detail: text; code: 1 when fatal or port error
  kFatalCommunicatorError,  // communicator encountered a fatal error
  kMismatchHint,            // <= 2.7: "collective mismatch around rank R"; rank. Often false
  kNetSizeMismatch,         // sizes of a transfer differ; peer, detail: "local A remote B"
  kProxyError,              // operation Connect failed, recv failed while polling opId, [Proxy Service]
  kUnwinding,               // file.cc:LINE -> CODE; code: ncclResult
  kServiceClosed,           // [Service thread] Connection closed by localRank: also on a normal exit
  kOtherWarning,            // a WARN of unknown words; subject: source file, detail: its words
  kRasPeerDead,             // RAS declaring peer as DEAD; peer
  kNcclError,               // exception "NCCL error in: …"; code: ncclResult (-1), detail: version
  kPeerError,               // ncclRemoteError, "remote error detected from rank"; rank
  // --- PyTorch
  // -----------------------------------------------------------------------------------------------
  kWatchdogStuck,     // heartbeat monitor: watchdog made no progress; code: seconds
  kInterpreterLock,   // could not acquire GIL
  kDumpSignal,        // a dump was asked for by another rank; rank: who timed out first
  kBlockingWait,      // timed out in blocking wait
  kLaggingRanks,      // desync report; detail: "3,11" as fold_ranks reads; code: 1 when they never joined any
  kStoreKeyMissing,   // ncclUniqueId or key not in the store; rank: who waits, code: the rank it waits for
  kStoreUnreachable,  // client socket cannot reach the store; peer: address, code: errno
  kStoreTimeout,      // waiting in the store timed out; detail: keys
  kStoreClosed,       // broken pipe, connection was closed: the rank with the store is gone
  kAddressInUse,      // code: 98, peer: address or port
  kRendezvousFailed,  // torchrun rendezvous; detail
  kGlooClosed,        // connection closed by peer; peer
  kGlooTimeout,       // waiting for recv/send timed out; code: milliseconds
  kGlooConnectFailed,    // connectFullMesh; detail
  kMonitoredBarrier,     // monitoredBarrier names ranks that did not come; detail: "3,11"
  kShapeMismatchReport,  // TORCH_DISTRIBUTED_DEBUG=DETAIL: "Detected mismatch between collectives on ranks";
                         // rank, code
  kException,            // last line of a Traceback; subject: type, detail: message; rank when tagged
  kFatalSignal,          // Fatal Python error, segfault, terminate called; code: signal (0: not known)
  kDriverMismatch,       // Driver/library version mismatch, API mismatch, driver insufficient; detail
  kDeviceUnavailable,    // no CUDA device, all devices busy or unavailable; detail
  // --- launchers and orchestrators ------------------------------------------------------------------------
  kProcessExit,  // code: exit status, -9 as torchrun prints signals; rank, subject: host, detail: "root" for
                 // torchrun's first observed failure
  kProcessSignalled,  // an agent sends SIGTERM to the others: collateral; code: signal
  kOutOfMemoryKill,   // host memory; subject: process name, code: pid (-1), detail: "cgroup", "host", "ray"
  kActorDied,         // Ray's generic text: no proof of why; detail
  kOrchestratorKill,  // eviction, failed probe, preemption, time limit, scancel; detail
  kNodeFailed,        // node failure, NotReady, lost node; subject: host
  kLinesCollapsed,    // "[repeated 6x across cluster]": lines of other ranks are missing; code: count
  // --- engines
  // -----------------------------------------------------------------------------------------------
  kEngineWaitsForWorker,  // no available shared memory broadcast block; code: seconds
  kEngineTimeout,         // RPC call to execute_model timed out
  kEngineDead,            // EngineDeadError and the like
  kEngineWatchdog,        // SGLang or TensorRT-LLM watchdog, hang detector; code: seconds
  kCacheTransferFailed,   // a transfer of the key-value cache between engines failed; detail
  kDistributedInitBegin,  // Init torch distributed begin, vLLM is using nccl, world_size= … backend=nccl
  kDistributedInitEnd,
  kEngineReady,      // serves: Application startup complete, The server is fired up
  kRequestProgress,  // throughput or decode line with tokens; code: 1 when tokens flow
  // --- what the host does ---------------------------------------------------------------------------------
  kCheckpoint,        // saving or loading a checkpoint; code: 0 begins or runs, 1 finished
  kDataLoading,       // dataloader, dataset, tokenising
  kWeightLoading,     // code: 0 begins or runs, 1 finished
  kCompilation,       // torch.compile, CUDA graph capture, autotuning, kernel build; code: 0/1
  kTrainingStep,      // a step, loss or iteration line; code: the step (-1)
  kTrainingEnd,       // training, evaluation or the program ends
  kDataWorkerKilled,  // DataLoader worker killed by signal; code: signal
  // --- kernel and devices
  // ------------------------------------------------------------------------------------
  kXid,  // code: Xid, subject: PCI "0000:b3:00" as printed, peer: "previous Xid N" -> N, detail: rest,
         // rank: 1 fatal, 0 nonfatal, -1 not stated
  kRecoveryAction,  // Xid 154; code: the number of the action, subject: PCI
  kSxid,            // NVSwitch; code, subject: PCI, rank: 1 fatal, 0 nonfatal; detail
  kGpuLost,         // fallen off the bus, GPU is lost, cannot determine the device handle; subject: PCI
  kGpuInitFailed,   // RmInitAdapter failed; subject: PCI
  kPcieCorrected,   // AER corrected; subject: PCI
  kPcieError,       // AER uncorrected; subject: PCI, code: 1 fatal
  kPcieLinkDown,    // pciehp: Link Down, Card not present; subject
  kIommuFault,      // DMAR / AMD-Vi page fault; subject: PCI
  kIommuEnabled,    // the kernel says or its command line shows that the IOMMU translates
  kAcsEnabled,      // ReqRedir+ (or the bits of ACSCtl) on a bridge; subject: PCI
  kEccError,  // what the device itself reports outside of an Xid: uncorrectable memory, a hang; subject: PCI,
              // detail
  kHostMemoryError,  // uncorrectable error of host memory or a processor; peer: EDAC's name of the controller
  kHungTask,         // blocked for more than N seconds, soft lockup; subject: process, code: seconds
  kLinkDown,         // a NIC's or HCA's link; subject: interface or HCA
  kLinkUp,
  kAdapterFault,        // mlx5 health, firmware or internal error; subject: device
  kGidTable,            // a row of ibv_devinfo / show_gids; code: index, detail: GID, subject: type
  kFabricManagerError,  // subject: PCI or service, detail
  kFabricManagerReady,
  kFabricManagerMissing,  // not running, not installed, not active; NVML fabric state not completed
  kNvlinkInactive,        // a link is inactive in nvlink -s; subject: "GPU 0 link 3"
  kGpuIdleSpin,           // 100 % utilisation at idle power
  kThrottled,             // clocks held back; subject: GPU, detail: reason
  // --- tests ---------------------------------------------------------------------------------------------
  kTestFailure,  // nccl-tests: Test NCCL/CUDA failure; detail: text
  kCount,
};

enum class LogRole : std::uint8_t { kNormal, kNote, kConsequence, kEither, kCause };

std::string_view name_of(LogEventKind value);  // "completion_error"
LogRole role_of(LogEventKind value);

// Identical events of one writer, one after the other or not, share a record.
struct LogEvent {
  LogEventKind kind = LogEventKind::kCount;
  std::uint32_t origin = 0;  // index into Log::origins
  std::uint32_t input = 0;   // index into Case::inputs; set by join/
  std::uint32_t count = 1;
  std::uint32_t run = 0;   // which start of the program in that file, from 0
  std::uint64_t line = 0;  // of the first, from 1
  std::uint64_t last_line = 0;
  LogTime first, last;
  std::int64_t code = 0;
  std::int32_t rank = -1;
  std::string subject, peer, detail;
  std::string text;  // the message without prefixes, valid UTF-8, at most 200 characters
};

}  // namespace unhang::model
