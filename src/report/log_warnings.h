// SPDX-License-Identifier: Apache-2.0
//
// What logs warn of, each thing once, causes first. Screen and JSON of `unhang logs warnings`.
#pragma once

#include <string>

#include "report/log_warning_rows.h"

namespace unhang::report {

// "NET/IB status 12 x 6, first 10:51:23.1 node3 -> node7": one row without its quotation. `with_date`: the
// day stands before the time.
std::string log_warning_sentence(const LogWarning& row, bool with_date);

// Consequences are counted in one line, and notes left out, unless `all`. Where there are only consequences
// they are shown: nothing earlier is known.
std::string render_log_warnings(const LogWarnings& found, const model::Case& joined, bool all, int width);
// Schema unhang.log_warnings/1. Consequences are always there, notes with `all`.
std::string log_warnings_json(const LogWarnings& found, const model::Case& joined, bool all);

}  // namespace unhang::report
