// SPDX-License-Identifier: Apache-2.0
//
// Dumps and RAS show who is missing; a log may tell why. This joins the two where they do not contradict.
#pragma once

#include <optional>

#include "detect/explanation.h"
#include "detect/log_analysis.h"
#include "detect/rank_names.h"
#include "model/case.h"

namespace unhang::detect {

// `shown` out of dumps or RAS with the reason that a log tells (`told`); nullopt where `told` is no reason
// for it, or names others. A fault of a process, a device or a host is one of the ranks on it (`names`). Of
// several ranks that are shown missing those remain culprits that the log tells to be gone, or cut off from
// the network; what became of the others is not known.
std::optional<Explanation> with_reason(const model::Case& joined, const RankNames& names,
                                       const Explanation& shown, const Explanation& told,
                                       const LogAnalysis* logs = nullptr);

}  // namespace unhang::detect
