// SPDX-License-Identifier: Apache-2.0
//
// How the members of one group stand to each other in its collectives: who entered up to where, whose oldest
// unfinished operation is which, and whose unfinished ones are only unfinished on paper because their peers
// have completed them.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "model/case.h"

namespace unhang::detect {

// A member whose operation is unfinished where peers have completed it.
enum class Lag : std::uint8_t {
  kNone,
  kStaleWatchdog,  // one or two operations behind: its watchdog had not looked yet; no fault
  kDeviceStopped,  // more: the host went on, the device did not
};

struct MemberProgress {
  model::RankIndex rank = 0;
  const model::Lane* lane = nullptr;      // null: nothing is known of this rank in this group
  bool tail_known = false;                // nothing can have followed what is known
  std::optional<std::int64_t> entered;    // last sequence number it enqueued
  std::optional<std::int64_t> completed;  // last sequence number it finished
  std::optional<std::uint32_t>
      head;  // its oldest operation that is really unfinished, index in Rank::operations
  Lag lag = Lag::kNone;
  std::int64_t operations_behind = 0;  // with a lag: how many its peers completed that it did not
};

struct GroupProgress {
  std::vector<MemberProgress> members;  // in the order of Group::members
  std::int64_t completed = -1;          // highest sequence number that anybody finished
};

// A difference of more than this many completed operations cannot be the watchdog's delay: every collective
// needs all members, so peers can be ahead by the pipeline depth at most (reference: flight-recorder §12,
// §13).
inline constexpr std::int64_t kStaleAtMost = 2;

// Linear in the lanes' lengths.
GroupProgress trace_group(const model::Case& joined, model::GroupIndex group);

}  // namespace unhang::detect
