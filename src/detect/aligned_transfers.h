// SPDX-License-Identifier: Apache-2.0
//
// Point-to-point transfers as rows: by source, destination and number on that edge.
#pragma once

#include "detect/aligned_selection.h"

namespace unhang::detect {

void align_transfers(const model::Case& joined, const RowSelection& selection, const RowSink& sink);

}  // namespace unhang::detect
