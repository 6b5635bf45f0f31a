// SPDX-License-Identifier: Apache-2.0
//
// The course of the incident: what every source tells, in one order on one clock; what came after the stall
// had begun is marked, for it cannot be its cause. Fills the verdict's timeline, its times and its clocks.
//
// At most kTimelineRows rows; those that tell least are left out and counted.
#pragma once

#include <cstddef>
#include <optional>

#include "detect/analysis.h"
#include "detect/evidence_book.h"
#include "detect/explanation.h"
#include "detect/host_times.h"
#include "detect/stall_start.h"
#include "model/verdict.h"

namespace unhang::detect {

inline constexpr std::size_t kTimelineRows = 40;

// `verdict` has its category, state and progress already. `chosen` null: nothing explains it.
void add_timeline(const Analysis& analysis, const HostTimes& times, const std::optional<StallStart>& stall,
                  const Explanation* chosen, EvidenceBook& book, model::Verdict& verdict);

}  // namespace unhang::detect
