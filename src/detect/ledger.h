// SPDX-License-Identifier: Apache-2.0
//
// What the verdict says about its own reach: which ranks each source covered, which signals of progress could
// be used, and what nobody looked at or nobody can see.
#pragma once

#include "detect/analysis.h"
#include "model/verdict.h"

namespace unhang::detect {

// Fills coverage, expected_ranks, progress and not_seen.
void fill_ledger(const Analysis& analysis, model::Verdict& verdict);

}  // namespace unhang::detect
