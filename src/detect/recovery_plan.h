// SPDX-License-Identifier: Apache-2.0
//
// What to do next, in the order in which it is to be done: keep what is there, look, isolate, rebuild, test
// again. It follows from the state first and from the cause second: one rank that left the sequence means
// that the whole group is rebuilt, whatever the reason was.
#pragma once

#include <string>

#include "detect/analysis.h"
#include "model/verdict.h"

namespace unhang::detect {

// Of a verdict that is complete but for its recovery. `culprits` is the words for the commands ("rank 5");
// empty where nobody is named.
model::Recovery plan_recovery(const Analysis& analysis, const model::Verdict& verdict,
                              const std::string& culprits);

}  // namespace unhang::detect
