// SPDX-License-Identifier: Apache-2.0
//
// When an incident took its course, in words; the same for the terminal and for Markdown.
#pragma once

#include <string>

#include "model/verdict.h"

namespace unhang::report {

// "2026-11-29T17:00:10Z, detected 10m later, last sign of it 31m later": to the second. Empty: not known.
std::string stall_words(const model::IncidentTimes& times);

}  // namespace unhang::report
