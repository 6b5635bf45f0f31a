// SPDX-License-Identifier: Apache-2.0
//
// What the processes of a job do, in half a sentence, where nothing about them is wrong for certain.
#pragma once

#include <string>

#include "model/case.h"

namespace unhang::detect {

// "rank 3 is sleeping, in hrtimer_nanosleep"; "of 9 processes 7 are waiting in a collective, 2 are sleeping".
// `joined` has processes.
std::string processes_words(const model::Case& joined);

}  // namespace unhang::detect
