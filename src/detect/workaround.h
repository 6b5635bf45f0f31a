// SPDX-License-Identifier: Apache-2.0
//
// Settings that bring service back at a price while the true fix is not done yet. Always said to be one.
#pragma once

#include <vector>

#include "model/verdict.h"

namespace unhang::detect {

// Nothing where the cause has none.
void add_workaround(const model::Verdict& verdict, std::vector<model::RecoveryStep>& out);

}  // namespace unhang::detect
