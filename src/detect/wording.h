// SPDX-License-Identifier: Apache-2.0
//
// How detectors call things in sentences, so that all of them speak alike.
#pragma once

#include <string>
#include <vector>

#include "model/case.h"

namespace unhang::detect {

// "rank 5", "ranks 0-3,7"
std::string ranks_text(const model::Case& joined, const std::vector<model::RankIndex>& ranks);
// "all_reduce #42 of tp (2)", "send 0->1 of pp (4)"
std::string operation_text(const model::Case& joined, const model::Operation& op);
// "all_reduce" as the program called it, without backend and peers
std::string call_text(const model::Case& joined, const model::Operation& op);
// "all_reduce of 64 x Float"
std::string call_with_size(const model::Case& joined, const model::Operation& op);

// "is"/"are", "has"/"have" …
inline const char* plural(std::size_t count, const char* one, const char* many) {
  return count == 1 ? one : many;
}

}  // namespace unhang::detect
