// SPDX-License-Identifier: Apache-2.0
//
// The verdict where no operation stands and no detector explains a stall: good news only about evidence that
// reaches to the end, and of one job.
#pragma once

#include "detect/analysis.h"
#include "model/verdict.h"

namespace unhang::detect {

// Files set aside as of another job or run, not as another copy of what is used.
std::size_t count_strangers(const model::Case& joined);

void say_nothing_wrong(const Analysis& analysis, model::Verdict& verdict);

}  // namespace unhang::detect
