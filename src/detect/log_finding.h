// SPDX-License-Identifier: Apache-2.0
//
// The frame that every explanation out of logs shares.
#pragma once

#include <string>
#include <string_view>

#include "detect/log_analysis.h"

namespace unhang::detect {

// An explanation that cites `events`; phase and state are what the logs as a whole show.
Explanation log_finding(const LogAnalysis& logs, model::Category category, std::string_view cause,
                        model::Confidence strength, std::string headline, const EventRefs& events);

// A fault that breaks a communicator while it is made or while it runs: the category follows from when.
// Lazily made connections count as initialisation (DESIGN §5, line 3), which only the log can tell.
model::Category init_or_transport(const LogAnalysis& logs);

}  // namespace unhang::detect
