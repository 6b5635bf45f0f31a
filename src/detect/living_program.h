// SPDX-License-Identifier: Apache-2.0
//
// What a program prints may speak of its death, or quote the death of another. Where somebody looked and saw
// it run, such words prove little.
#pragma once

#include "detect/explanation.h"
#include "model/case.h"

namespace unhang::detect {

// Lowers what rests on printed words alone, of a command that still ran when it was looked at (`unhang
// probe`). A rank that they name and that was not among the processes seen may be dead indeed.
void doubt_words_of_the_living(const model::Case& joined, Explanation& explanation);

}  // namespace unhang::detect
