// SPDX-License-Identifier: Apache-2.0
//
// The collectives of one group as rows, ascending by ordinal. Walks all members' lists side by side.
#pragma once

#include "detect/aligned_selection.h"

namespace unhang::detect {

void align_collectives(const model::Case& joined, CallKeys& keys, const RowSelection& selection,
                       model::GroupIndex group, const RowSink& sink);

}  // namespace unhang::detect
