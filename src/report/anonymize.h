// SPDX-License-Identifier: Apache-2.0
//
// Takes the names of hosts, users and addresses out of a Case and its verdict, before they are shown to
// somebody who is not to know them. After diagnosis, so that the verdict is the same; before rendering, so
// that columns stay aligned. What is replaced: base/anonymous_names.h.
#pragma once

#include "base/anonymous_names.h"
#include "model/case.h"
#include "model/verdict.h"

namespace unhang::report {

// The hosts and users that a log names count as known from now on.
void learn_names(const model::Log& log, base::AnonymousNames& names);

// Both give all their names to `names` first, and what became of them depends on all texts together, not on
// their order. Numbers, kinds and ids stay. What a person may see of `evidence` by its SymbolIds is replaced,
// too. `verdict` may be null.
void anonymize(model::Case& evidence, model::Verdict* verdict, base::AnonymousNames& names);

}  // namespace unhang::report
