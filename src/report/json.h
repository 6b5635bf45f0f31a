// SPDX-License-Identifier: Apache-2.0
//
// The verdict as JSON, schema unhang.verdict/1 (docs/schema/verdict-1.json). Keys are stable: within /1 they
// are only added. One top-level key a line and one element of a list a line, so that it can be compared and
// searched by eye.
#pragma once

#include <string>
#include <vector>

#include "model/case.h"
#include "model/verdict.h"

namespace unhang::report {

// Deterministic, and always valid UTF-8 JSON whatever the evidence holds. Ends in a line break.
std::string render_json(const model::Verdict& verdict, const std::vector<model::Input>& inputs,
                        const std::vector<model::SetAside>& set_aside = {});

}  // namespace unhang::report
