// SPDX-License-Identifier: Apache-2.0
//
// Whether a time-out of a process group is too tight for a job that advances, and what limit its own history
// asks for.
#pragma once

#include <optional>

#include "detect/analysis.h"
#include "model/slow_report.h"

namespace unhang::detect {

// The group whose limit is tightest against what its finished operations took from call to completion (what
// PyTorch's watchdog holds against the limit), if it is tighter than advised. The advice is the larger of
// three times the 99.9th percentile and twice the longest, to the next minute: whatever is seen once in a
// thousand operations comes many times a day, and the longest of what a ring still holds is not the longest
// of a week. Nullopt where fewer than 100 operations say it, and for a job that stands: there a longer limit
// only hides the hang for longer.
std::optional<model::TimeLimit> tight_time_limit(const Analysis& analysis);

// The same as a step of recovery.
std::optional<model::RecoveryStep> timeout_advice(const Analysis& analysis);

}  // namespace unhang::detect
