// SPDX-License-Identifier: Apache-2.0
//
// Which of two places a rank came to first. A rank that stands in several operations at once has called one
// after the other, and its device works in that order: the later ones only queue behind the first. The order
// of one rank's calls is certain; times of different machines are not.
#pragma once

#include "detect/analysis.h"

namespace unhang::detect {

// Whether one of the ranks that wait in this stall has called another operation before, in which everybody
// stands as well and which is not finished either.
bool queues_behind_another(const Analysis& analysis, const Stall& stall);

}  // namespace unhang::detect
