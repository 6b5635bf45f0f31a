// SPDX-License-Identifier: Apache-2.0
//
// One answer of NCCL's RAS service as read: what one process told about every process of its job that it
// could reach. The numbers are what the hosts *launched*, not what finished; a rank here is a rank of its
// communicator. Text answers name only outliers; what they leave out stays unknown here and is never made up.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace unhang::model {

// The collectives that NCCL counts. 2.24 and 2.25 have one counter for all of them together (kAny) and no
// other; later releases count each by itself and have no kAny.
enum class RasCollective : std::uint8_t { kBroadcast, kReduce, kAllGather, kReduceScatter, kAllReduce, kAny };
inline constexpr std::size_t kRasCollectives = 6;
std::string_view name_of(RasCollective value);  // "AllReduce"; kAny: "collective"

enum class RasPresence : std::uint8_t {
  kAnswered,        // its process answered for it
  kNoCommunicator,  // its process answered and does not have this communicator
  kUnresponsive,    // its process gave no answer
  kDead,            // the service has declared its process dead
  kMissing,         // no data, and the release does not say why (2.24, 2.25)
};

enum class RasStatus : std::uint8_t { kUnknown, kInit, kRunning, kFinalize, kAbort, kNoCommunicator };
std::string_view name_of(RasStatus value);  // "RUNNING", "NOCOMM"; kUnknown: "unknown"

// ncclResult_t as RAS prints it.
enum class NcclResult : std::int8_t {
  kSuccess = 0,
  kUnhandledCuda = 1,
  kSystem = 2,
  kInternal = 3,
  kInvalidArgument = 4,
  kInvalidUsage = 5,
  kRemote = 6,
  kInProgress = 7,
  kTimeout = 8,  // 2.30 and later
  kOther = 127,  // a number that no release known here has
};
std::string_view text_of(NcclResult value);  // "remote process error", for people
// Neither success nor in progress; not stated is no error.
bool is_nccl_error(const std::optional<NcclResult>& result);
// An error that the rank met itself, not one that it was told of or that is only the end of its patience.
bool is_own_nccl_error(const std::optional<NcclResult>& result);

struct RasRank {
  std::int32_t rank = -1;
  std::string host;  // the IP address that RAS prints; empty: not known
  std::int64_t pid = -1;
  std::int32_t cuda_device = -1;
  std::int32_t nvml_device = -1;
  RasPresence presence = RasPresence::kAnswered;
  RasStatus status = RasStatus::kUnknown;
  std::optional<NcclResult> init_state;   // nullopt: not stated
  std::optional<NcclResult> async_error;  // nullopt: not stated
  bool finalize_called = false;
  bool destroy_flag = false;
  bool abort_flag = false;
  std::array<std::optional<std::uint64_t>, kRasCollectives> counts;
  std::int32_t global_rank = -1;  // found by join/; -1: not known
};

// Text only: how many ranks share a count or a status, whether they are named or not.
struct RasShare {
  std::optional<RasCollective> collective;  // nullopt: of a status
  std::uint64_t count = 0;                  // launched operations; 0: none
  RasStatus status = RasStatus::kUnknown;
  std::uint32_t ranks = 0;
  std::vector<std::int32_t> named;  // ascending; empty where the text leaves the names out
};

// Text only: how many ranks reported one error; who they were is in RasRank where the text names them.
struct RasErrorShare {
  NcclResult result = NcclResult::kOther;
  bool initialization = false;  // else an asynchronous error
  std::uint32_t ranks = 0;
};

struct RasCommunicator {
  std::uint64_t hash = 0;
  std::string secondary_hash;    // JSON: "0x8ed9…:0xedb8…"; tells communicators of one hash apart
  std::int32_t size = -1;        // -1: not known
  std::int32_t text_group = -1;  // "#<text_group>-<text_index>" of the text form
  std::int32_t text_index = -1;
  // Ascending rank, each once: all that the answer tells of one by one, or that follows from it ("7 of 8 at
  // 100, rank 5 at 99" tells of all 8). Not listed: nothing is known of that rank.
  std::vector<RasRank> ranks;
  std::vector<RasShare> shares;
  std::vector<RasErrorShare> error_shares;
  std::uint32_t missing_ranks = 0;                           // whose processes did not answer, named or not
  bool incomplete = false, error = false, mismatch = false;  // as the answer, or its numbers, say
  std::uint64_t line = 0;  // where it stands in the input, from 1; 0: not known
};

// A row of the text's table: communicators of one size and state, mostly without a name.
struct RasRow {
  std::int32_t group = -1;
  std::int64_t communicators = 0;
  std::int64_t nodes = 0;
  std::int64_t ranks_per_node_least = 0, ranks_per_node_most = 0;
  std::int64_t size = 0;   // ranks that each communicator declares
  std::int64_t ranks = 0;  // of all of them that answered
  RasStatus status = RasStatus::kUnknown;
  bool incomplete = false, error = false, mismatch = false;
  std::uint64_t line = 0;
};

// A process that the answer lists because it did not answer.
struct RasProcess {
  std::string host;
  std::int64_t pid = -1;
  std::vector<std::int32_t> cuda_devices, nvml_devices;
  bool dead = false;
};

struct RasAnswer {
  std::string nccl_version;               // "2.28.9"; empty: not stated
  std::string cuda_runtime, cuda_driver;  // as printed
  bool is_json = false;
  std::string timestamp;  // JSON: "2026-11-29 15:01:29", local time of the answering host without its zone
  std::optional<double> collection_seconds;
  std::uint64_t timeouts = 0;                  // communication time-outs while it was gathered
  std::vector<RasCommunicator> communicators;  // ascending (hash, secondary hash)
  std::vector<RasRow> rows;                    // text only, in printed order
  std::vector<RasProcess> lost_processes;      // text only: of the whole job, dead or silent
  // Text only: how many there are of them, named or not.
  std::uint64_t silent_processes = 0, dead_processes = 0;
  std::optional<std::int64_t> nodes, processes, gpus;  // text only: the job summary's totals
  bool complete = false;                               // it reaches to its own end
  bool corrupt = false;      // it shows signs of a known bug of its release; what is marked so was left out
  std::uint64_t line = 1;    // where it begins in the input
  std::uint64_t offset = 0;  // the same in bytes
};

// One event of MONITOR.
struct RasEvent {
  std::string timestamp;   // as printed: local time of the answering host
  std::string event;       // "PEER_DEAD"
  bool lifecycle = false;  // known to every process; else seen by neighbours only
  std::string host;
  std::int64_t pid = -1;
  std::vector<std::int32_t> cuda_devices;
  std::string address;  // where only an address is known
  std::string details;
  std::uint64_t line = 0;
};

// "b79ec9689dde9dc4": how a hash is written, the same for both spellings of NCCL.
std::string hash_text(std::uint64_t hash);

}  // namespace unhang::model
