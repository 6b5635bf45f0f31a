// SPDX-License-Identifier: Apache-2.0
//
// What trtllm-serve answers under /metrics: a JSON list of the iterations since the last question. Asking
// takes them away, so that a second asker misses them.
#pragma once

#include <string_view>

#include "formats/evidence.h"

namespace unhang::formats::engine_metrics {

bool sniff_iteration_stats(std::string_view bytes);

// Adds one sample: the newest iteration. An empty list is a sample without series: nothing new.
void parse_iteration_stats(std::string_view bytes, Evidence& evidence);

}  // namespace unhang::formats::engine_metrics
