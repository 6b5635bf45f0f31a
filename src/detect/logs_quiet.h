// SPDX-License-Identifier: Apache-2.0
//
// What logs say where no detector found a fault in them: signs of life, an orderly end, or nothing at all.
#pragma once

#include "detect/log_analysis.h"
#include "model/verdict.h"

namespace unhang::detect {

// Fills category, state and headline. Good news only on positive evidence: silence proves nothing.
void say_of_logs(const LogAnalysis& logs, model::Verdict& verdict);

}  // namespace unhang::detect
