// SPDX-License-Identifier: Apache-2.0
//
// How communicators came to be: which of their ranks appeared, how far each came, where it stopped. Screen
// and JSON of `unhang logs init`.
#pragma once

#include <string>
#include <vector>

#include "model/communicator_set.h"

namespace unhang::report {

// One sentence: "ranks 3,11 of 16 never checked in", "all 16 ranks completed in 0.4 s".
std::string communicator_sentence(const model::CommunicatorSet& set, const model::Log& log);

// `sets` are of `log` (detect::group_communicators).
std::string render_log_init(const std::vector<model::CommunicatorSet>& sets, const model::Log& log,
                            int width);
// Schema unhang.logs_init/1.
std::string log_init_json(const std::vector<model::CommunicatorSet>& sets, const model::Log& log);

}  // namespace unhang::report
