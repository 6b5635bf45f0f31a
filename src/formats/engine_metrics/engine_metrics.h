// SPDX-License-Identifier: Apache-2.0
//
// The metric pages of inference engines: Prometheus text (and OpenMetrics) of vLLM, SGLang, TensorRT-LLM,
// Triton and Dynamo, and the JSON iteration statistics of trtllm-serve. Each page becomes one
// model::EngineSample. docs/formats/engine_metrics.md says which names are read.
#pragma once

#include <cstddef>
#include <string_view>

#include "formats/evidence.h"

namespace unhang::formats::engine_metrics {

// Ceilings, far above any real page.
inline constexpr std::size_t kMaxName = 256;          // bytes of a metric's name; longer ones are not known
inline constexpr std::size_t kMaxLabels = 64;         // of one value; a line with more is not read
inline constexpr std::size_t kMaxLabelValue = 4096;   // bytes; a line with a longer one is not read
inline constexpr std::size_t kMaxSeries = 1024;       // replicas on one page; the rest is left out
inline constexpr std::size_t kMaxIterations = 65536;  // elements of the JSON list that are looked at

// True for a page that looks like the text format or like iteration statistics, also where it turns out to
// hold no engine's counters.
bool sniff(std::string_view bytes);

// Adds one sample, and a problem for what could not be read: lines that are no metric, a page that was cut
// off, a page without the counters of an engine.
void parse(std::string_view bytes, Evidence& evidence);

}  // namespace unhang::formats::engine_metrics
