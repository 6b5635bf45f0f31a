// SPDX-License-Identifier: Apache-2.0
//
// Dumps and RAS show who is missing; a log may tell why. This joins the two where they do not contradict.
#pragma once

#include <optional>

#include "detect/explanation.h"
#include "model/case.h"

namespace unhang::detect {

// `shown` out of dumps or RAS with the reason that a log tells (`told`); nullopt where `told` is no reason
// for it, or names others.
std::optional<Explanation> with_reason(const model::Case& joined, const Explanation& shown,
                                       const Explanation& told);

}  // namespace unhang::detect
