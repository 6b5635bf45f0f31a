// SPDX-License-Identifier: Apache-2.0
//
// The state of live jobs as JSON, schema unhang.ras/1: one object. For `status` it is laid out for people as
// well, for `watch` it is one line, so that many make a JSONL.
#pragma once

#include <string>

#include "report/ras_state.h"

namespace unhang::report {

enum class JsonLayout { kIndented, kLine };

// Ends with a line break.
std::string render_ras_json(const RasState& state, JsonLayout layout);

}  // namespace unhang::report
