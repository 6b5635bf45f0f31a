// SPDX-License-Identifier: Apache-2.0
//
// What has to be tested again before it serves: machines, adapters and pairs of machines that a fault of a
// device, a link or a host was seen on. A program's mistake leaves nothing to test.
#pragma once

#include <string>
#include <vector>

#include "detect/recovery_environment.h"
#include "model/verdict.h"

namespace unhang::detect {

// "gpu-b07", "gpu-b07/mlx5_2", "gpu-a01 and gpu-b07"; bounded.
std::vector<std::string> retest_list(const model::Verdict& verdict);

// The test of all of them; nothing where there is nothing to test.
void add_retest_step(const model::Verdict& verdict, const RecoveryEnvironment& environment,
                     const std::vector<std::string>& list, std::vector<model::RecoveryStep>& out);

}  // namespace unhang::detect
