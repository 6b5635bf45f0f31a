// SPDX-License-Identifier: Apache-2.0
//
// From the Case to the verdict: runs the detectors, takes the earliest sufficient explanation, keeps the
// others as alternatives, and fills in place, victims, evidence, coverage and what to do. Deterministic.
#pragma once

#include "model/case.h"
#include "model/verdict.h"

namespace unhang::detect {

model::Verdict diagnose(const model::Case& joined);

}  // namespace unhang::detect
