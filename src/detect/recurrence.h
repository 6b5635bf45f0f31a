// SPDX-License-Identifier: Apache-2.0
//
// Whether somebody whom this verdict names was named by earlier ones, too: "3rd time on gpu-b07/mlx5_2".
// Machines and devices are the same from job to job; a rank is the same only in the same model instance. One
// incident that was diagnosed several times counts once. A recurrence is a lead and no proof: it asks for a
// test, never changes category, cause or confidence.
#pragma once

#include <string>
#include <vector>

#include "model/earlier_verdict.h"
#include "model/verdict.h"

namespace unhang::detect {

// Fills Verdict::history (the most often named first; at most a few) and adds what follows to the advice.
// The order of `earlier` does not matter.
void compare_with_history(const std::vector<model::EarlierVerdict>& earlier, model::Verdict& verdict);

// "2nd", "3rd", "11th"
std::string ordinal_text(std::size_t number);

}  // namespace unhang::detect
