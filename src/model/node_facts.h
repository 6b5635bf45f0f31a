// SPDX-License-Identifier: Apache-2.0
//
// What `unhang doctor` saw of one node or pod: the workers, their dump triggers and folders, RAS, engines,
// the clock, tools, rights, memory and devices. Values only; collect/ fills it, checks/ judges it.
//
// Everywhere: an empty optional or text is "not known" and is never taken for good or bad.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace unhang::model {

enum class PathKind : std::uint8_t { kFile, kFolder, kFifo, kOther };

struct PathFacts {
  std::string path;     // as whoever uses it sees it
  std::string trouble;  // why nothing more is known: "Permission denied", "stood still for 1 s"
  bool looked = false;  // false: see `trouble`
  bool exists = false;
  PathKind kind = PathKind::kOther;
  std::uint32_t rights = 0;  // the twelve bits of chmod
  std::int64_t owner = -1, group = -1;
  std::string file_system;  // "ext4", "tmpfs", "nfs"; else its number: "0x1234"
  bool read_only = false;
  std::uint64_t bytes_total = 0, bytes_free = 0;
  std::optional<std::uint64_t> inodes_free;  // none: it does not count them
};

struct NodeProcess {
  std::int64_t pid = 0;
  std::string name;
  bool environment_known = false;
  std::vector<std::pair<std::string, std::string>> environment;  // of those that may be looked at
};

struct NodeWorker {
  NodeProcess process;
  std::optional<std::int64_t> user;  // effective
  std::vector<std::int64_t> groups;  // effective and supplementary
  std::optional<std::int64_t> rank;  // RANK of its environment
  bool has_own_root = false;         // another mount namespace than ours: a container
  std::string nccl_release, torch_release;
  std::optional<std::uint64_t> memlock_bytes;  // soft limit; the largest number: unlimited
  std::vector<std::string> not_readable;       // "environ: Permission denied"
  std::optional<std::size_t> launcher;         // index in NodeFacts::launchers
};

// Where some workers write their dumps.
struct NodeDumpPlace {
  std::string prefix;   // "/var/log/nccl/fr_rank_"
  bool is_set = false;  // by a variable; else it is PyTorch's default
  std::string reach;    // in front of the path, to get there from here: "/proc/412/root", or empty
  PathFacts folder;
  PathFacts above;  // the nearest folder above it that is there, where it is not there itself
  std::vector<std::size_t> workers;
  std::vector<std::string> old_dumps;  // older than every worker that could have written them; ascending
};

// The FIFOs below one stem, as some workers see them.
struct NodeFifos {
  std::string stem;   // of TORCH_NCCL_DEBUG_INFO_PIPE_FILE
  std::string reach;  // as in NodeDumpPlace
  PathFacts folder;
  std::vector<std::pair<std::int64_t, PathFacts>> pipes;  // rank, <stem><rank>.pipe; ascending rank
  std::vector<std::size_t> workers;
};

// /dev/shm as some workers see it.
struct NodeShm {
  PathFacts folder;
  std::vector<std::size_t> workers;  // none: it is ours
};

enum class AddressScope : std::uint8_t { kLoopback, kPrivate, kPublic, kEverywhere };

struct NodeRas {
  std::string address;  // "localhost:28028"
  bool expected =
      false;  // a worker with a release that has RAS and does not switch it off, or the user said so
  bool answered = false;  // by its greeting
  std::string trouble;    // why not
  std::string release;    // of who listens, or of the workers
  std::string hazard;     // what a question to this release may do; empty: nothing is known
  bool too_old = false;   // before 2.24: it has no RAS
  std::vector<std::pair<std::string, AddressScope>> bound;  // addresses on which the port is open; ascending
};

struct NodeClock {
  std::optional<bool> synchronized;
  std::int64_t estimated_error_us = 0, largest_error_us = 0;
  bool timesyncd_says_so = false;  // /run/systemd/timesync/synchronized is there
};

struct NodeRights {
  std::optional<std::int64_t> user;           // whom we run as
  std::optional<std::uint64_t> capabilities;  // effective, one bit each
  std::optional<std::int64_t> ptrace_scope, dmesg_restrict, perf_event_paranoid;
  PathFacts kernel_log;  // /dev/kmsg
  std::string hidepid;   // "2", "invisible": how others' processes are hidden; empty: they are not
};

struct NodeMemory {
  std::string group;                  // control group
  std::uint64_t limit = 0, used = 0;  // bytes; used without what can be dropped at once (inactive files)
};

struct NodeDevices {
  std::vector<std::string> rdma;                    // names in /sys/class/infiniband
  bool rdma_nodes = false;                          // /dev/infiniband/uverbs*
  std::vector<std::string> rdma_capable;            // PCI addresses of adapters that could
  std::vector<std::string> gpus;                    // PCI addresses of NVIDIA's
  std::vector<std::string> gpu_nodes;               // "nvidia0", "nvidia1"
  bool gpu_control = false;                         // /dev/nvidiactl and /dev/nvidia-uvm
  bool sys_readable = false;                        // /sys/bus/pci/devices
  std::string kernel_driver;                        // release of NVIDIA's kernel module
  std::string driver_library, driver_library_path;  // release of libnvidia-ml, and where
};

struct NodeEngine {
  std::string address;
  std::optional<int> health;  // HTTP status
  std::string health_trouble;
  bool has_page = false;
  std::string trouble;       // why there is no page of metrics, or it is not whole
  std::string engine;        // "vllm"; empty: no engine's counters are on it
  std::size_t counters = 0;  // replicas with counters
};

struct NodeFacts {
  bool was_asked_for = false;       // the user named the processes
  std::vector<NodeWorker> workers;  // ascending pid
  std::vector<NodeProcess> launchers;
  std::vector<std::string> worker_notes;  // why some were not seen
  std::vector<NodeDumpPlace> dump_places;
  std::vector<NodeFifos> fifos;
  std::vector<NodeRas> ras;
  // Where PyTorch's debug server (start_debug_server) listens, if it does.
  std::vector<std::pair<std::string, AddressScope>> debug_server;
  std::vector<NodeEngine> engines;
  NodeClock clock;
  std::vector<std::pair<std::string, std::string>> tools;  // name, path; an empty path: not installed
  NodeRights rights;
  bool in_container = false, in_kubernetes = false, in_slurm = false;
  bool has_kubernetes_account = false;   // a token with which the API server may be asked
  std::vector<PathFacts> bundle_places;  // $TMPDIR and the current folder
  std::vector<NodeShm> shm;              // of each container with workers; without workers, ours
  std::string core_pattern;
  std::optional<bool> core_handler_exists;  // where the pattern is a pipe, as seen from here
  std::vector<NodeMemory> memory;
  NodeDevices devices;

  const std::string* tool(const std::string& name) const {
    for (const auto& [known, path] : tools) {
      if (known == name) return path.empty() ? nullptr : &path;
    }
    return nullptr;
  }
};

}  // namespace unhang::model
