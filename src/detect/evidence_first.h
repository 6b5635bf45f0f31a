// SPDX-License-Identifier: Apache-2.0
//
// What to keep before anything ends the job: the step in front of all others where it may still stand and
// nobody has captured it. What a live process shows is gone with it.
#pragma once

#include <vector>

#include "detect/recovery_environment.h"
#include "model/case.h"
#include "model/verdict.h"

namespace unhang::detect {

// A stopped job that no log shows the end of.
bool may_be_alive(const model::Case& joined, const model::Verdict& verdict);

// Nothing where the job has ended, or a capture of it is among the inputs.
void add_evidence_step(const model::Case& joined, const model::Verdict& verdict,
                       const RecoveryEnvironment& environment, std::vector<model::RecoveryStep>& out);

}  // namespace unhang::detect
