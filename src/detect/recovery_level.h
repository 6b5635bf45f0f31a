// SPDX-License-Identifier: Apache-2.0
//
// How much has to be brought back: by the state first, by the cause second. What moves is left alone; what
// stands needs at least all of its ranks anew, whatever stopped it.
#pragma once

#include "detect/node_isolation.h"
#include "model/verdict.h"

namespace unhang::detect {

model::RecoveryLevel recovery_level(const model::Verdict& verdict, const NodeIsolation& isolation);

}  // namespace unhang::detect
