// SPDX-License-Identifier: Apache-2.0
//
// The Case: all evidence of one incident, joined and immutable. detect/ and report/ see this and no file
// format. Ranks and groups are named by their index here (RankIndex, GroupIndex); a *global rank* is
// Rank::global_rank.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/bundle.h"
#include "model/dump.h"
#include "model/engine_sample.h"
#include "model/host_clock.h"
#include "model/identity.h"
#include "model/import_problem.h"
#include "model/log.h"
#include "model/operation.h"
#include "model/process_sample.h"
#include "model/ras_view.h"
#include "model/vocabulary.h"

namespace unhang::model {

using RankIndex = std::uint32_t;
using GroupIndex = std::uint32_t;
using InputIndex = std::uint32_t;

struct Input {
  std::string path;  // as the person named it, with the path inside an archive after "!"
  std::string kind;  // "flight_recorder_pickle", "flight_recorder_json", "unknown", …
  std::vector<ImportProblem> problems;
};

// What one rank is known to have done in one group.
struct Lane {
  GroupIndex group = 0;
  // Indices into Rank::operations, in order of launch. A coalesced block stands here once, by its closing
  // entry; the operations inside it are not listed.
  std::vector<std::uint32_t> collectives;  // ascending collective_sequence
  std::vector<std::uint32_t> p2p;
  // The same counters as collective_sequence, from operations and, where comparable, pg_status. Nullopt: not
  // known.
  std::optional<std::int64_t> last_enqueued;
  std::optional<std::int64_t> last_completed;
  // pg_status' last number as it stands: of a collective or a transfer, whichever came last. Compares only
  // between ranks that do the same.
  std::optional<std::int64_t> last_work;
  bool status_inferred = false;  // pg_status was assigned to this group by order, not by an operation
};

struct Rank {
  std::int32_t global_rank = -1;
  std::string host;                 // empty: not known
  std::int64_t pid = -1;            // -1: not known
  std::int32_t cuda_device = -1;    // local number; -1: not known
  std::optional<InputIndex> input;  // the dump it was read from; none: expected, but left no dump
  bool operations_known = false;    // the dump holds a list of operations (which may be empty)
  bool tail_known = false;          // nothing after the last operation was cut off
  bool only_active = false;         // completed operations were left out of the dump
  bool wrapped = false;             // older operations have left the ring
  std::vector<Operation> operations;
  std::vector<Lane> lanes;  // ascending group

  const Lane* lane(GroupIndex group) const;
};

enum class Membership : std::uint8_t { kDeclared, kInferred, kUnknown };

struct Group {
  SymbolId name = 0;
  SymbolId description = 0;
  SymbolId backend = 0;
  std::vector<RankIndex> members;  // in group order where declared, else ascending
  Membership membership = Membership::kUnknown;
  bool carries_p2p = false;  // some member recorded point-to-point operations in it
};

// Evidence that is not of this job or this run: named, never mixed in.
struct SetAside {
  InputIndex input = 0;
  std::string reason;
  bool is_second = false;  // another dump of the same rank and job is used: nothing is lost
};

struct CoverageRow {
  std::string source;  // "flight_recorder"
  std::vector<RankIndex> seen;
  std::vector<RankIndex> partial;     // cut off, or without its list of operations
  std::vector<RankIndex> unreadable;  // a file is there and cannot be read
  std::vector<RankIndex> absent;      // expected, no file among the inputs
};

// An identity that two sources state differently ("file name says rank 3, the groups in it say rank 5").
struct Conflict {
  InputIndex input = 0;
  std::string text;
};

// What RAS told of the job.
struct RasEvidence {
  std::vector<RasView> views;  // in order of time; RasView::sources are InputIndex
  struct Event {
    InputIndex input = 0;
    RasEvent event;
  };
  std::vector<Event> events;  // MONITOR, in the order of the files
  // Ranks inside a communicator stand for global ones: nothing better was there.
  bool ranks_from_communicator = false;
  std::uint64_t world_hash = 0;  // the communicator whose ranks are the global ones; 0: none is
};

// One reading of an engine's counters.
struct EngineReading {
  InputIndex input = 0;
  std::string engine;                   // the URL or path that was asked; readings of one engine share it
  std::optional<std::int64_t> time_ns;  // nullopt: not known
  EngineSample sample;
};

// A look at a process, and where it was read.
struct ProcessReading {
  InputIndex input = 0;
  ProcessSample sample;  // with its rank, where anything tells it
};

struct Case {
  std::vector<Input> inputs;
  Vocabulary vocabulary;
  std::vector<Rank> ranks;  // ascending global rank
  std::vector<Group>
      groups;  // in a stable order: by name (numbers as numbers), description, backend, first member
  std::vector<SetAside> set_aside;
  std::vector<CoverageRow> coverage;
  std::vector<Conflict> conflicts;
  RasEvidence ras;
  std::vector<EngineReading> engine_readings;  // by engine, then in order of time
  std::vector<BundleManifest> bundles;         // in the order of their paths
  Log logs;                                    // of all log files together; records carry their input
  std::vector<ProcessReading> processes;  // looks at live processes: by host and pid, then in order of time
  std::vector<RankIdentity> identities;   // ascending global rank; also ranks that only logs name
  std::vector<HostIdentity> hosts;        // ascending name
  std::vector<HostClock> clocks;          // ascending host; empty: one host, or nothing to compare
  std::vector<TimeAssumption> time_assumptions;  // ascending input
  std::string comm_library_version;              // of the majority of dumps
  bool world_inferred = false;                   // the number of ranks was not stated by any input
  bool has_kernel_log = false;                   // of some host, also one in which nothing happened
  bool has_dumps = false;                        // some Flight Recorder dump is of this job

  std::string_view text(SymbolId id) const { return vocabulary.text(id); }
  // gloo has rules of its own: what it records, counts and calls finished (join/progress.h).
  bool is_gloo(const Group& group) const { return text(group.backend) == "gloo"; }
  const Signature& signature(const Operation& op) const { return vocabulary.signature(op.signature); }
  std::optional<RankIndex> find_rank(std::int32_t global_rank) const;
  std::vector<std::int32_t> global_ranks(const std::vector<RankIndex>& indices) const;
  // "TENSOR_MODEL_PARALLEL_GROUP (35)", "default_pg (0)": how a person finds the group again.
  std::string group_label(GroupIndex group) const;
};

}  // namespace unhang::model
