// SPDX-License-Identifier: Apache-2.0
//
// The cause catalogue for people: `unhang explain CODE`, the list of codes, and the page docs/causes.md.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/cause.h"

namespace unhang::report {

// One cause, wrapped at `width` columns. A command stays on one line where it fits on a line at all.
std::string render_cause(const model::CauseInfo& cause, int width, bool color);

// All codes with their titles, under the category in which each is listed first.
std::string render_cause_list(int width, bool color = false);

// docs/causes.md, whole.
std::string render_causes_markdown();

// Codes that a mistyped one may have meant, nearest first; may be empty.
std::vector<std::string_view> similar_causes(std::string_view code);

}  // namespace unhang::report
