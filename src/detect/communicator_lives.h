// SPDX-License-Identifier: Apache-2.0
//
// Puts the communicators that single processes tell of together: which lines of which ranks are one
// communicator, who of its ranks never appeared, and how far the slowest came. A pure function of the log.
//
// What belongs together: members that print the same commId; of a split without one, members with the same
// parent, split number, color and size. Where none of this is printed (NCCL before 2.18), the k-th
// communicator of that size in which a rank appears is its k-th set (`by_order`): right where all
// communicators of a size are made in the same order, as training programs do. A rank that appears again
// begins another set, so that two runs in one file are not mixed; and a pointer means nothing beyond its
// process.
#pragma once

#include <vector>

#include "model/communicator_set.h"

namespace unhang::detect {

using model::CommunicatorSet;
using model::missing_ranks;
using model::missing_text;

// In the order in which their first members stand in the log. O(n log n) in the communicators.
std::vector<CommunicatorSet> group_communicators(const model::Log& log);

}  // namespace unhang::detect
