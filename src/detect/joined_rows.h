// SPDX-License-Identifier: Apache-2.0
//
// Which calls of which ranks belong together, in order of arrival: the arrows of a timeline. A job of a
// thousand ranks has millions, which no viewer shows; then only the rows that need attention are joined.
#pragma once

#include "model/aligned_table.h"

namespace unhang::detect {

inline constexpr std::size_t kMostJoinedCalls = 200'000;

// By group and ordinal, then transfers. At most `most` calls in all.
model::JoinedRows joined_rows(const model::Case& joined, std::size_t most = kMostJoinedCalls);

}  // namespace unhang::detect
