// SPDX-License-Identifier: Apache-2.0
//
// What the stall has cost so far: all GPUs of the job that stands, from the stall to the end or to the latest
// time in the evidence. Nothing is said where a time or the number of GPUs is not known.
#pragma once

#include "model/case.h"
#include "model/verdict.h"

namespace unhang::detect {

// Fills times.gpu_hours_lost and lost_basis from the other times of the verdict.
void fill_time_lost(const model::Case& joined, model::Verdict& verdict);

}  // namespace unhang::detect
