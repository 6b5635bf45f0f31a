// SPDX-License-Identifier: Apache-2.0
//
// Where a launch stands: before NCCL, in its initialisation, after it, or in the first collective. From the
// logs, stacks, dumps and RAS answers of the Case and from what was seen from outside. A pure function.
//
// What counts, the stronger first: steps, tokens and finished operations; a communicator that was begun and
// is not complete; functions on stacks; lines about weights, compilation and the engine; whether NCCL said
// anything. Printing is no progress: programs print that they wait.
#pragma once

#include "model/case.h"
#include "model/launch.h"

namespace unhang::detect {

// `joined` null: no evidence was left or could be read.
model::LaunchStage judge_launch(const model::Case* joined, const model::LaunchFacts& facts);

}  // namespace unhang::detect
