// SPDX-License-Identifier: Apache-2.0
//
// The results of named checks for a person: the worst first, each with where it stands, why it matters and
// the lines that mend it. For `unhang env check` and `unhang doctor`.
#pragma once

#include <string>

#include "model/check_result.h"

namespace unhang::report {

struct ChecksScreenOptions {
  int width = 80;
  bool color = false;
  bool verbose = false;  // also each check that passed
};

// Within one status the order of the report is kept. Lines of a fix are not wrapped: they are to be copied.
std::string render_checks(const model::CheckReport& report, const ChecksScreenOptions& options);

}  // namespace unhang::report
