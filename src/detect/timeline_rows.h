// SPDX-License-Identifier: Apache-2.0
//
// What the sources of an incident tell with a time: calls of ranks, lines of logs, answers of RAS, captures.
// Many lines of one kind are one row. incident_timeline.h orders and bounds them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "detect/analysis.h"
#include "detect/explanation.h"
#include "detect/host_times.h"
#include "detect/stall_start.h"

namespace unhang::detect {

// What an event is in the course of an incident.
enum class TimelinePart : std::uint8_t { kStall, kAnomaly, kComplaint, kDump, kEnd, kOther };

struct TimelineRow {
  Moment at;
  TimelinePart part = TimelinePart::kOther;
  // What is left out last has the lowest.
  std::uint8_t weight = 0;
  bool is_call = false;  // the stall itself: never marked as after it
  std::string clock;     // whose it is: "host", "log", "log without zone, read as UTC"
  std::string host;
  std::string event;
  std::optional<OperationRef> operation;
  std::optional<model::EvidenceItem> record;
};

struct TimelineRows {
  std::vector<TimelineRow> rows;    // in the order of the sources
  std::size_t without_time = 0;     // events of logs that would be here if they had a time
  std::optional<Moment> last;       // the latest that any line of a log tells
  std::optional<Moment> last_end;   // the latest exit or kill
  std::optional<Moment> last_step;  // the last sign of work in a log
};

// `chosen` null: nothing explains it. Linear in the facts, but for a map of the kinds of lines.
TimelineRows timeline_rows(const Analysis& analysis, const HostTimes& times,
                           const std::optional<StallStart>& stall, const Explanation* chosen);

}  // namespace unhang::detect
