// SPDX-License-Identifier: Apache-2.0
//
// Dumps and RAS show who is missing; a look at its stack may tell what it does instead.
#pragma once

#include <optional>

#include "detect/explanation.h"
#include "model/case.h"

namespace unhang::detect {

// `shown` with what the stacks of its culprits say; nullopt where there are none, they are older than the
// stall, or a reason is known already.
std::optional<Explanation> with_stack_reason(const model::Case& joined, const Explanation& shown);

}  // namespace unhang::detect
