// SPDX-License-Identifier: Apache-2.0
//
// Where a launch stood and how it ended, in words.
#pragma once

#include <string>

#include "model/launch.h"

namespace unhang::detect {

std::string place_words(model::LaunchPlace place);  // "in NCCL's initialisation"
// "it stands in NCCL's initialisation: connecting channels", by place, movement and what it does.
std::string launch_headline(const model::LaunchStage& stage, const model::LaunchFacts& facts);

}  // namespace unhang::detect
