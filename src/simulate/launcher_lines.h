// SPDX-License-Identifier: Apache-2.0
//
// What the launcher of a simulated job prints when a process ends: srun leaves the others alone, torchrun
// ends those of the same machine.
#pragma once

#include <string>

#include "simulate/course.h"

namespace unhang::simulate {

// Of the whole job; empty where nothing ended, or where torchrun started it.
std::string slurm_log(const Course& course);

// Of the agent of one machine; empty as above.
std::string torchrun_log(const Course& course, std::int32_t host);

}  // namespace unhang::simulate
