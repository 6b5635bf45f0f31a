// SPDX-License-Identifier: Apache-2.0
//
// The Case as a trace for ui.perfetto.dev or chrome://tracing (Trace Event Format, JSON): a process for each
// host, a thread for each rank, a slice for each operation, arrows that join the ranks of a collective in the
// order in which they came, and a mark on who is to blame. Written piece by piece: a trace may be longer than
// memory.
#pragma once

#include <functional>
#include <optional>

#include "model/aligned_table.h"
#include "model/verdict.h"
#include "report/json_stream.h"

namespace unhang::report {

struct TimelineInput {
  const model::Case& joined;
  const model::Verdict& verdict;
  const model::JoinedRows& arrows;
  // Step of the program that a collective belongs to, where one is known.
  std::function<std::optional<std::int64_t>(model::GroupIndex, std::int64_t)> step;
};

struct TimelineCounts {
  std::size_t ranks = 0;
  std::size_t slices = 0;
  std::size_t arrows = 0;  // from one rank to the next
  std::size_t without_time = 0;
};

// Deterministic and always valid JSON. Times are exact: microseconds with three digits.
TimelineCounts write_timeline(const TimelineInput& input, const ByteSink& sink);

}  // namespace unhang::report
