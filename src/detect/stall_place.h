// SPDX-License-Identifier: Apache-2.0
//
// Where a stall can be looked up: an operation of one of those who wait in it.
#pragma once

#include "detect/analysis.h"
#include "detect/explanation.h"

namespace unhang::detect {

// The open operation of `rank`, which waits in `stall`; by default of the first who does.
OperationRef place_of(const Analysis& analysis, const Stall& stall, model::RankIndex rank);
OperationRef place_of(const Analysis& analysis, const Stall& stall);

}  // namespace unhang::detect
