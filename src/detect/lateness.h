// SPDX-License-Identifier: Apache-2.0
//
// Who comes last to the collectives of a group, how often, what it costs, and whether that is more than
// chance. The one rule for stragglers: the detector and the slow report ask here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "detect/arrivals.h"

namespace unhang::detect {

struct GroupLateness {
  model::GroupIndex group = 0;
  bool by_durations = false;
  std::size_t rows = 0;
  std::int64_t window_ns = 0;
  std::vector<Delays> delays;  // by member
  // Members that keep the others waiting: none, one, or all of one host, where its ranks come late together
  // and none of them stands out.
  std::vector<std::size_t> stragglers;
  std::vector<std::uint32_t> operations;  // of each of these, where it was worst
  Delays proof;                           // their delays, as the rule counts them
  // True: small but steady, told by the durations of steps. False: large.
  bool slight = false;

  // Of the group's time, what the others lost to a member.
  double share_lost(const Delays& of_member) const {
    return window_ns <= 0 ? 0 : static_cast<double>(of_member.lost_ns) / static_cast<double>(window_ns);
  }
};

// Nullopt: no collective of the group was timed by all members, or the group has one member.
std::optional<GroupLateness> judge_lateness(const Analysis& analysis, model::GroupIndex group);

// The largest share of the time that ever goes unclaimed, for people: "5 %" is found, "2 %" is not.
inline constexpr double kLeastShareSteady = 0.035;

}  // namespace unhang::detect
