// SPDX-License-Identifier: Apache-2.0
//
// What else it could be: the explanations that were not chosen and say something else than the chosen one,
// the stronger first, each with what speaks for and against it and the one check that would decide.
#pragma once

#include <vector>

#include "detect/explanation.h"
#include "model/case.h"

namespace unhang::detect {

// `others` in the order of the catalogue. The alternatives that the chosen one knows itself come first. A
// weaker word for the same about the same ranks is a witness, and none.
std::vector<model::Alternative> rank_alternatives(const model::Case& joined, const Explanation& chosen,
                                                  std::vector<const Explanation*> others);

}  // namespace unhang::detect
