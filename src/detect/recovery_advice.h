// SPDX-License-Identifier: Apache-2.0
//
// What to do next. It follows from the state first and from the cause second: one rank that left the sequence
// means that the whole group is rebuilt, whatever the reason was.
#pragma once

#include <string>

#include "model/verdict.h"

namespace unhang::detect {

// `culprits` is the words for the commands ("rank 5"); empty where nobody is named.
model::Recovery advise(const model::Verdict& verdict, const std::string& culprits);

}  // namespace unhang::detect
