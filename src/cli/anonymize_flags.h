// SPDX-License-Identifier: Apache-2.0
//
// --anonymize and --anonymize-key, for every command that shows evidence.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/anonymous_names.h"
#include "base/result.h"
#include "cli/command.h"
#include "model/case.h"
#include "model/verdict.h"

namespace unhang::cli {

struct AnonymizeFlags {
  bool on = false;
  std::optional<std::string> key;
};

std::vector<Flag> anonymize_flags(AnonymizeFlags& values);

// kUsage: a key without --anonymize.
base::Result<> check(const AnonymizeFlags& values);

// Where --anonymize was given: replaces the names (report/anonymize.h). `verdict` may be null.
void anonymize_as_asked(const AnonymizeFlags& values, model::Case& evidence, model::Verdict* verdict);

}  // namespace unhang::cli
