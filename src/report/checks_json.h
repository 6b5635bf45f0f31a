// SPDX-License-Identifier: Apache-2.0
//
// The results of named checks as JSON: unhang.env_check/1 and its sisters. One shape for all of them.
#pragma once

#include <string>
#include <string_view>

#include "model/check_result.h"

namespace unhang::report {

// Deterministic, valid UTF-8 whatever the values hold, one result a line. Ends in a line break.
std::string checks_json(const model::CheckReport& report, std::string_view schema);

}  // namespace unhang::report
