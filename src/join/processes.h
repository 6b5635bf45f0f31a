// SPDX-License-Identifier: Apache-2.0
//
// Looks at processes from several tools made one: the same process at the same time is one reading, whose
// threads carry the frames of one tool and the kernel's states of another; each gets its rank where anything
// tells it.
#pragma once

#include <vector>

#include "join/bundle_facts.h"
#include "model/case.h"

namespace unhang::join {

// Readings of one process further apart than this are two looks.
inline constexpr std::int64_t kOneLookNs = 120'000'000'000;

// Fills Case::processes. After ranks, logs and bundles are joined.
void join_processes(std::vector<model::ProcessReading> readings, const BundleFacts& facts,
                    model::Case& result);

}  // namespace unhang::join
