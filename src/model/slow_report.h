// SPDX-License-Identifier: Apache-2.0
//
// What the times of a job say: who comes last, which transfers and steps became slower and when, which pairs
// of ranks are slow. Values only; `unhang slow` shows them, and the detectors of slowness take their findings
// from them. Ranks and groups are indices of the Case.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/case.h"
#include "model/verdict.h"

namespace unhang::model {

enum class SlowOutcome : std::uint8_t {
  kNothingSlow,
  kSlow,
  kStopped,  // operations are open that nothing will finish: `unhang diagnose` says why
  kUnknown,  // nothing was timed
};
enum class SlowKind : std::uint8_t {
  kStraggler,        // one rank comes last again and again
  kTransferDrift,    // transfers of a group take longer than they did
  kSlowPair,         // transfers between two ranks take longer than between others
  kSlowSender,       // … from one rank to all its partners
  kSlowReceiver,     // … to one rank from all its partners
  kStepDrift,        // the steps take longer, and no rank and no transfer accounts for it
  kTail,             // a few operations took many times as long
  kThroughputDrift,  // an engine makes fewer tokens a second with as many requests
};
enum class SlowSide : std::uint8_t { kCompute, kNetwork, kUnknown };
std::string_view name_of(SlowOutcome value);  // "nothing_slow": stable, part of unhang.slow/1
std::string_view name_of(SlowKind value);     // "straggler"
std::string_view name_of(SlowSide value);     // "compute"

// Measurements in the order of time.
struct SlowSeries {
  std::size_t count = 0;
  std::int64_t median_ns = 0, p99_ns = 0, longest_ns = 0;
  std::vector<std::int64_t> blocks;  // medians of at most 40 parts of equal length, oldest first
  // Where it moved to a level that is at least a tenth higher than one before and stayed at least ten
  // measurements.
  struct Change {
    std::size_t at = 0;         // measurement, from 0
    std::int64_t sequence = 0;  // number of the operation in its group (steps: of the step's first one)
    double ratio = 1;           // of the new level to the lowest one before
    bool persistent = false;    // to the end of what was recorded
  };
  std::optional<Change> change;
  // More than twice the median, and too few to be a level. `share`: of the time of all, what is more than
  // the median in them.
  std::size_t tail = 0;
  double tail_share = 0;
};

struct SlowTransfers {
  GroupIndex group = 0;
  OpKind kind = OpKind::kOther;
  std::string operation;              // as it was called
  std::optional<std::int64_t> bytes;  // nullopt: not known, or it changes from call to call
  SlowSeries time;                    // of the transfer alone: of the member that came last
  double share_lost = 0;              // of the group's time since the change, what is more than before
};

struct SlowSteps {
  GroupIndex group = 0;
  std::int64_t length = 1;  // operations of a step; 1: from call to call, the calls don't repeat themselves
  SlowSeries time;
};

struct LateRank {
  RankIndex rank = 0;
  GroupIndex group = 0;            // where it cost the others most; the numbers are of that group
  std::size_t rows = 0;            // collectives in which all members were timed
  std::size_t last = 0;            // in how many of them it was last by more than chance makes
  std::int64_t median_lag_ns = 0;  // of those: how much later than the last but one
  double share_lost = 0;           // of the group's time
  bool by_durations = false;       // else by the times of the calls
};

// Transfers from one rank to another, against those of the same size on paths of the same kind.
struct SlowPair {
  RankIndex source = 0, destination = 0;
  std::size_t count = 0;
  std::int64_t median_ns = 0;
  double ratio = 1;     // of the median of all such pairs
  double robust_z = 0;  // of the logarithm
  bool across_hosts = false;
  bool hot = false;  // by more than chance and by enough to matter
};

struct SlowRate {
  std::string engine;
  std::size_t readings = 0;
  double tokens_per_s = 0;  // the median
  std::vector<double> blocks;
  std::optional<double> ratio;  // of the newest level to the best before, below 1
};

struct SlowFinding {
  SlowKind kind = SlowKind::kTail;
  SlowSide side = SlowSide::kUnknown;
  std::string_view cause;  // a code of the cause catalogue
  Confidence confidence = Confidence::kLow;
  bool slow = true;  // false: worth knowing, and no trouble
  bool persistent = true;
  std::string text;                 // one sentence
  std::vector<std::string> why;     // what else speaks for it
  std::vector<RankIndex> culprits;  // a straggler, both ends of a pair, the rank whose pairs are slow
  std::vector<RankIndex> suspects;  // members of the group that it happened in
  std::optional<GroupIndex> group;
  std::optional<std::int64_t> since_sequence;  // number of the operation in that group
  // An operation that shows it.
  struct At {
    RankIndex rank = 0;
    std::uint32_t operation = 0;
  };
  std::optional<At> at;
};

// A limit that the job, as it advances, comes too close to.
struct TimeLimit {
  GroupIndex group = 0;
  std::int64_t limit_ns = 0;
  std::int64_t advised_ns = 0;
  std::size_t count = 0;  // finished operations that were looked at
  std::int64_t p999_ns = 0, longest_ns = 0;
};

struct SlowReport {
  SlowOutcome outcome = SlowOutcome::kUnknown;
  std::vector<SlowFinding> findings;     // the one that costs most first
  std::vector<LateRank> ranks;           // by share lost, descending, then rank
  std::vector<SlowTransfers> transfers;  // by the time in them, descending
  std::vector<SlowSteps> steps;          // by group
  std::vector<SlowPair> pairs;           // by source, then destination
  std::vector<SlowRate> engines;
  std::optional<TimeLimit> time_limit;
  std::vector<std::string> not_judged;  // for people
};

}  // namespace unhang::model
