// SPDX-License-Identifier: Apache-2.0
//
// How many bytes a call moves, by the rule of nccl-tests: of the larger side, so that an all_gather counts
// what it gathers and a reduce_scatter what it reduces.
#pragma once

#include <cstdint>
#include <optional>

#include "model/case.h"

namespace unhang::detect {

// Nullopt: no shape was recorded, or a data type that is not known.
std::optional<std::int64_t> call_bytes(const model::Case& joined, const model::Signature& signature);

}  // namespace unhang::detect
