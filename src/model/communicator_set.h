// SPDX-License-Identifier: Apache-2.0
//
// One communicator as the lines of all its processes tell it (detect/communicator_lives.h puts them
// together).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/log.h"

namespace unhang::model {

struct CommunicatorSet {
  std::string label;  // "commId 0x5c1a", "split 1 color 0 of commId 0x5c1a", "16 ranks, the 2nd"
  std::optional<std::uint64_t> id;  // commId
  bool by_order = false;            // put together by order alone: a guess where programs are not regular
  std::int32_t size = -1;           // its ranks, as printed; -1: not printed
  // Indices into Log::communicators, ascending rank inside it. One for each rank, but for ranks not printed.
  std::vector<std::uint32_t> members;
  // Ranks inside it of which no line is there, as inclusive ranges, ascending. Empty when the size is not
  // known.
  std::vector<std::pair<std::int32_t, std::int32_t>> missing;
  std::int64_t missing_count = 0;
  // Those of the missing whose processes did write to these logs: their absence is a fact, not a gap. Told
  // only of communicators of the whole job, where the rank inside is the global one. Ascending.
  std::vector<std::int32_t> missing_with_log;
  // Members (as in `members`) that were begun and never were complete.
  std::vector<std::uint32_t> stopped;
  // The least that a member reached; what was aborted before it was complete counts as kAborted. Of a set
  // where all were complete: at least kComplete.
  CommunicatorPhase slowest = CommunicatorPhase::kStarted;
  bool all_complete = false;  // every rank of the stated size is there and was complete
  // The earliest START and the latest COMPLETE, on the clock that most of the members have; unknown where no
  // line has a time.
  LogTime first_start, last_complete;
  // The last sign of life of a stopped member; unknown where no line has a time.
  LogTime stopped_since;
  // Longest "Init timings" of a member; else from the first START to the last COMPLETE; -1: not known.
  double seconds = -1;
};

// The missing ranks one by one, at most `limit` of them.
std::vector<std::int32_t> missing_ranks(const CommunicatorSet& set, std::size_t limit);

// "3,11-15" of the missing ranks; beyond 8 ranges, the first 8 and "…".
std::string missing_text(const CommunicatorSet& set);

}  // namespace unhang::model
