// SPDX-License-Identifier: Apache-2.0
//
// Finds what an answer tells of one rank of a communicator.
#pragma once

#include <cstdint>

#include "model/ras.h"

namespace unhang::model {

// Null: nothing is known of that rank. Logarithmic: the ranks of a communicator are ascending.
const RasRank* find_rank(const RasCommunicator& communicator, std::int32_t rank);

}  // namespace unhang::model
