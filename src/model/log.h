// SPDX-License-Identifier: Apache-2.0
//
// What text logs told: of NCCL, PyTorch, launchers, engines and the kernel, in any mixture. One file gives
// one Log; join/ merges all of them into one with the same shape. Sizes follow the facts found, never the
// bytes.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/log_event.h"

namespace unhang::model {

// Who wrote a line, as far as lines say it. Empty and -1: not known.
struct LogOrigin {
  std::string host;  // NCCL's host name, journald's host, or the address a launcher puts in front
  std::int64_t pid = -1;
  std::int32_t global_rank = -1;  // [rank7]:, mpirun's and srun's tags
  std::int32_t local_rank = -1;   // [default3]:
  std::int32_t cuda_device = -1;  // NCCL's [dev]: a local number, no rank
  std::string label;              // "EngineCore_DP0", "Worker_TP1", "kernel", "TP3"
  bool operator==(const LogOrigin&) const = default;
};

// The life of a communicator as the lines of one process tell it.
enum class CommunicatorPhase : std::uint8_t {
  kStarted,     // Init START
  kBootstrap,   // its bootstrap is done
  kTopology,    // topology and graphs are made
  kConnecting,  // channels are being connected
  kConnected,   // rings and trees stand
  kComplete,    // Init COMPLETE
  kInUse,       // a collective was enqueued
  kAborted,
  kDestroyed,
};
std::string_view name_of(CommunicatorPhase value);

struct LogCommunicator {
  std::uint32_t origin = 0;
  std::uint32_t input = 0;
  std::uint32_t run = 0;
  std::uint64_t pointer = 0;            // of its process; 0: not printed
  std::optional<std::uint64_t> id;      // commId: the same on all ranks; absent for splits and before 2.18
  std::optional<std::uint64_t> parent;  // pointer of the parent
  std::optional<std::int64_t> split;    // which child of the parent: "splitCount", "childCount"
  std::optional<std::int64_t> color;    // of a split
  std::int32_t rank = -1, ranks = -1;   // rank inside it, and how many it has
  std::int32_t cuda_device = -1, nvml_device = -1;
  std::string bus_id;  // "1c000", as printed
  std::int32_t nodes = -1, local_ranks = -1;
  std::string function;  // "ncclCommInitRank"
  CommunicatorPhase phase = CommunicatorPhase::kStarted;
  bool started = false;    // a START line was seen (old releases print none)
  bool completed = false;  // Init COMPLETE was seen, whatever came later
  std::uint64_t started_line = 0, completed_line = 0, last_line = 0;
  LogTime started_at, completed_at, last_at;
  double total_seconds = -1;  // Init timings
  double bootstrap_seconds = -1;
  std::string network;         // "IB", "Socket", plugin; empty: not known
  std::uint32_t channels = 0;  // Channel lines seen
  std::uint32_t p2p_channels = 0, shm_channels = 0, net_channels = 0, gdr_channels = 0, socket_channels = 0;
};

// A collective as NCCL's COLL lines print it, at enqueue time.
struct LogCall {
  std::uint32_t communicator = 0;  // index into Log::communicators
  std::uint64_t op_count = 0;
  std::string kind;         // "AllReduce"
  std::uint64_t count = 0;  // elements
  std::int32_t datatype = -1, op = -1, root = -1;
  std::uint64_t line = 0;
};

// A collective that PyTorch's watchdog gave up on, with what else the process said of the same group.
struct WatchdogTimeout {
  std::uint32_t origin = 0;
  std::uint32_t input = 0;
  std::uint32_t run = 0;
  std::uint64_t line = 0;
  LogTime at;
  std::int32_t group_rank = -1;   // "Rank 4": inside the group
  std::string group_id;           // "PG ID 2": a count of the process
  std::string group;              // "PG GUID 9": the key across ranks; empty: not printed
  std::string group_description;  // "default_pg"
  std::int64_t sequence = -1;
  std::string operation;                             // "ALLREDUCE", "_ALLGATHER_BASE"
  std::int64_t elements_in = -1, elements_out = -1;  // -1: not printed, or cut
  std::int64_t timeout_ms = -1, ran_ms = -1;
  std::int64_t last_enqueued = -1, last_completed = -1;
  std::int64_t collapsed = 0;  // as many others of the same wording were left out by Ray
  bool blocking_wait = false;
  bool cut = false;  // the line ended before its ")"
};

// What a table of `nvidia-smi topo -m` says.
struct TopologyTable {
  std::uint32_t input = 0;
  std::uint64_t line = 0;
  std::vector<std::string> names;  // of the columns that are devices: GPU0, NIC0, mlx5_0
  std::vector<std::string> row_names;
  std::vector<std::vector<std::string>> cells;  // [row][column]; "X" for itself, "" where the row is short
  std::vector<std::string> cpu_affinity, numa_affinity;  // by row; "" where not printed
  std::vector<std::string> nic_names;                    // of the legend, by NIC number
  bool failed = false;  // "Failed to run topology matrix", or a header without rows
};

// `nvidia-smi topo -p2p r`, and the matrix of p2pBandwidthLatencyTest.
struct PeerTable {
  std::uint32_t input = 0;
  std::uint64_t line = 0;
  std::string property;                         // "r", "w", "n", "a", "p"; "access"; empty: not known
  std::vector<std::vector<std::string>> cells;  // OK, CNS, GNS, TNS, NS, DR, U, X
};

// One GPU as `nvidia-smi -q` or `--query-gpu` shows it: "pci.bus_id" -> "00000000:61:00.0".
struct GpuTable {
  std::uint32_t input = 0;
  std::uint64_t line = 0;
  std::vector<std::pair<std::string, std::string>> fields;
};

// A run of nccl-tests.
struct BandwidthRow {
  std::uint64_t bytes = 0, elements = 0;
  std::string datatype, reduction;
  std::int32_t root = -1;
  // out of place [0] and in place [1]: microseconds, GB/s; negative: not printed
  std::array<double, 2> time_us{-1, -1}, algbw{-1, -1}, busbw{-1, -1};
  std::array<std::int64_t, 2> wrong{-1, -1};  // -1: N/A or not printed
};
struct BandwidthRun {
  std::uint32_t input = 0;
  std::uint64_t line = 0;
  std::string test;  // "all_reduce_perf"; empty: not printed
  std::string version;
  std::int32_t ranks = -1;
  std::vector<std::string> hosts;  // sorted, unique
  std::vector<BandwidthRow> rows;
  double average_busbw = -1;
  std::int64_t out_of_bounds = -1;
  bool concluded = false;    // its closing lines are there
  bool cut_row = false;      // the last row is incomplete
  bool without_mpi = false;  // every process says that it is rank 0
};

struct Log {
  std::vector<LogOrigin> origins;
  std::vector<LogEvent> events;  // by input, then first line
  std::vector<LogCommunicator> communicators;
  std::vector<LogCall> calls;  // the latest of each communicator only
  std::vector<WatchdogTimeout> timeouts;
  std::vector<TopologyTable> topologies;
  std::vector<PeerTable> peer_tables;
  std::vector<GpuTable> gpus;
  std::vector<BandwidthRun> bandwidth_runs;
  std::string nccl_version;  // the first that was printed
  std::uint64_t lines = 0, recognised = 0, nccl_lines = 0;
  std::uint32_t runs = 1;  // starts of the program told apart
  LogTime first, last;     // of the first and last line that have one
  std::uint32_t last_origin = 0;
  std::string last_text;        // the last line that is not empty, cut
  std::uint64_t forgotten = 0;  // facts that were beyond the bounds
  bool empty() const { return recognised == 0; }
};

}  // namespace unhang::model
