// SPDX-License-Identifier: Apache-2.0
//
// How to bring all ranks back together, in the words of who started them. Never one rank: whoever left the
// sequence of collectives cannot be taken back by the others.
#pragma once

#include "detect/recovery_environment.h"
#include "model/verdict.h"

namespace unhang::detect {

// Where a name is not known, the command has it in capitals and the reason says where to find it.
model::RecoveryStep rebuild_step(const RecoveryEnvironment& environment);

}  // namespace unhang::detect
