// SPDX-License-Identifier: Apache-2.0
//
// The verdict: what the program says, as values. report/ turns it into a screen, JSON (schema
// unhang.verdict/1, which follows these structs field by field) or Markdown. Ranks here are global ranks.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace unhang::model {

// In order of decision: the first that holds is the category (ARCHITECTURE.md, "How a verdict is reached").
enum class Category : std::uint8_t {
  kHealthy,
  kPerformanceDegradation,
  kProcessOrDeviceUnavailable,
  kInitializationHang,
  kCollectiveDesync,
  kTransportStall,
  kNotCommunication,
  kInconclusive,
};
enum class State : std::uint8_t { kAdvancing, kSlow, kStopped, kDead, kIdle, kStarting, kUnknown };
enum class Confidence : std::uint8_t { kHigh, kMedium, kLow };
enum class Phase : std::uint8_t { kLaunch, kInit, kConnect, kFirstCollective, kSteady, kShutdown, kUnknown };
enum class FaultDomain : std::uint8_t {
  kApplication,
  kProcess,
  kGpu,
  kHost,
  kLink,
  kFabric,
  kEnvironment,
  kUnknown
};
enum class RecoveryLevel : std::uint8_t { kNone, kRequest, kInstance, kProcessGroup, kNode, kCluster };
enum class SubjectKind : std::uint8_t { kRank, kProcess, kGpu, kNic, kLink, kPort, kHost, kPair, kGroup };

// The words of the schema: "collective_desync", "process_group", …
std::string_view name_of(Category value);
std::string_view name_of(State value);
std::string_view name_of(Confidence value);
std::string_view name_of(Phase value);
std::string_view name_of(FaultDomain value);
std::string_view name_of(RecoveryLevel value);
std::string_view name_of(SubjectKind value);

using EvidenceId = std::uint32_t;  // index into Verdict::evidence

struct EvidenceItem {
  std::string file;
  std::optional<std::int64_t> line;
  std::optional<std::int64_t> offset;
  std::optional<std::int64_t> record;  // Flight Recorder record_id
  std::string text;                    // cut at 200 characters
};

// Somebody or something that the verdict names.
struct Subject {
  SubjectKind kind = SubjectKind::kRank;
  std::optional<std::int32_t> rank;
  std::string group;
  std::optional<std::int32_t> group_rank;
  std::string host;
  std::optional<std::int64_t> pid;
  std::string gpu;
  std::string nic;
  std::optional<std::int32_t> peer;  // pair: the other global rank
  std::string why;
  std::vector<EvidenceId> evidence;
};

struct Finding {
  std::string id;  // "desync-1": stable for the same evidence
  Category category = Category::kInconclusive;
  std::string_view cause;  // a code of the cause catalogue
  Confidence strength = Confidence::kLow;
  std::string text;
  std::vector<Subject> culprits;
  std::vector<EvidenceId> evidence;
  std::vector<std::string> rules_out;
};

struct Alternative {
  Category category = Category::kInconclusive;
  std::string_view cause;
  std::vector<std::string> speaks_for;
  std::vector<std::string> speaks_against;
  std::string decide_by;
};

struct StackLine {
  std::string function;
  std::string file;
  std::int64_t line = 0;
  bool user_code = false;  // outside torch
};

// One stack that a set of ranks stands in.
struct RankStack {
  std::vector<std::int32_t> ranks;
  std::string role;               // "culprit" or "waiting"
  std::vector<StackLine> frames;  // innermost first
};

struct Where {
  std::string group;
  std::string operation;
  std::optional<std::int64_t> ordinal;
  std::optional<std::int64_t> iteration;
  std::vector<StackLine> stack;  // of the waiting majority, innermost first
};

struct BlastRadius {
  std::vector<std::int32_t> ranks;
  std::vector<std::string> groups;
  std::vector<std::string> hosts;
  std::vector<std::string> instances;
};

struct ProgressSignal {
  std::string signal;
  std::string scope;
  bool usable = false;
  std::string why_not;
  std::string last_moved;  // RFC 3339 UTC, or empty
};

struct TimelineEvent {
  std::string time;  // RFC 3339 UTC with nanoseconds
  std::string clock;
  std::string host;
  std::string event;
  std::vector<EvidenceId> evidence;
  bool after_the_fact = false;  // later than the stall began by more than the clocks' spread: no cause
};

// When what happened. RFC 3339 UTC, or empty: not known.
struct IncidentTimes {
  std::string first_anomaly;
  std::string stalled_since;  // a time-out minus its limit, or the last thing that finished
  std::string stalled_basis;  // how that is known, for people
  std::string detected;       // the first time-out or other complaint
  std::string dumped;
  std::string ended;  // killed, or the last line
  std::optional<double> gpu_hours_lost;
  std::string lost_basis;  // "64 GPUs x 31 min from the stall to the kill"
};

// Something that earlier verdicts (--history) name, too.
struct Recurrence {
  std::string subject;       // "gpu-b07", "gpu-b07/mlx5_2", "rank 5"
  std::size_t times = 0;     // this one counted
  std::size_t verdicts = 0;  // that were looked through
  std::string last;          // file of the latest earlier one
  std::string cause;         // code that it had most often
};

struct RecoveryStep {
  std::string why;
  std::string command;  // empty: nothing to run
  bool changes_the_world = false;
};

struct Recovery {
  RecoveryLevel level = RecoveryLevel::kNone;
  std::vector<RecoveryStep> steps;
  // "lws", "jobset", "ray", "torchrun", "slurm", "systemd", "docker"; empty: not seen
  std::string environment = {};
  std::vector<std::string> retest = {};  // what to test again before it serves: "gpu-b07", "gpu-b07/mlx5_2"
};

struct CoverageLine {
  std::string source;
  std::vector<std::int32_t> seen, partial, unreadable, absent;
};

struct ClockOffset {
  std::string host;
  std::int64_t offset_ns = 0;
  std::int64_t spread_ns = 0;
  std::string basis;
};

struct Verdict {
  Category category = Category::kInconclusive;
  std::string_view cause = "unknown";
  std::string root;  // a known reason behind the cause; empty: none
  Phase phase = Phase::kUnknown;
  FaultDomain fault_domain = FaultDomain::kUnknown;
  State state = State::kUnknown;
  Confidence confidence = Confidence::kLow;
  std::string headline;  // one sentence: who did not do what, and who waits for it
  std::vector<Subject> culprits, suspects, victims;
  Where where;
  BlastRadius blast_radius;
  std::vector<Finding> findings;
  std::vector<Alternative> alternatives;
  std::vector<EvidenceItem> evidence;
  std::vector<ProgressSignal> progress;
  std::vector<TimelineEvent> timeline;
  IncidentTimes times;
  std::vector<Recurrence> history;
  std::vector<std::string> not_seen;
  Recovery recovery;
  std::vector<CoverageLine> coverage;
  std::size_t expected_ranks = 0;
  // Sources of which nothing is among the inputs: "flight_recorder", "nccl_ras", "log", "kernel_log",
  // "stacks".
  std::vector<std::string> not_asked;
  std::vector<ClockOffset> clocks;
  std::vector<RankStack> stacks;  // of culprits and waiters, for people who ask for more
};

// The exit code of DESIGN: 0 fine, 1 slow, 2 stopped or dead or failed, 3 unknown with nothing proven wrong.
int exit_code(const Verdict& verdict);

}  // namespace unhang::model
