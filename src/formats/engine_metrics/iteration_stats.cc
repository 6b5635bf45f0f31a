// SPDX-License-Identifier: Apache-2.0
#include "formats/engine_metrics/iteration_stats.h"

#include <simdjson.h>

#include "formats/engine_metrics/engine_metrics.h"

namespace unhang::formats::engine_metrics {
namespace {

std::optional<double> number(const simdjson::dom::element& object, std::string_view key) {
  double value = 0;
  if (object[key].get_double().get(value) != simdjson::SUCCESS) return std::nullopt;
  return value;
}

model::EngineSeries series_of(const simdjson::dom::element& iteration) {
  model::EngineSeries series;
  series.running = number(iteration, "numActiveRequests");
  series.waiting = number(iteration, "numQueuedRequests");
  series.steps = number(iteration, "iter");
  simdjson::dom::element cache;
  if (iteration["kvCacheStats"].get(cache) == simdjson::SUCCESS) {
    const auto used = number(cache, "usedNumBlocks");
    const auto most = number(cache, "maxNumBlocks");
    if (used && most && *most > 0) series.kv_usage = *used / *most;
  }
  return series;
}

void add_problem(Evidence& evidence, model::Severity severity, std::string code, std::string text,
                 std::uint64_t lost) {
  evidence.problems.push_back({.severity = severity,
                               .code = std::move(code),
                               .text = std::move(text),
                               .offset = {},
                               .bytes_lost = lost});
}

}  // namespace

bool sniff_iteration_stats(std::string_view bytes) {
  const std::size_t begin = bytes.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos || (bytes[begin] != '[' && bytes[begin] != '{')) return false;
  return bytes.find("\"numActiveRequests\"") != std::string_view::npos ||
         bytes.find("\"iterLatencyMS\"") != std::string_view::npos;
}

void parse_iteration_stats(std::string_view bytes, Evidence& evidence) {
  simdjson::dom::parser parser;
  simdjson::dom::element root;
  if (parser.parse(bytes.data(), bytes.size()).get(root) != simdjson::SUCCESS) {
    add_problem(evidence, model::Severity::kDataLoss, "not_json",
                "iteration statistics that are no whole JSON: cut off, or not all of it was copied",
                bytes.size());
    return;
  }
  model::EngineSample sample;
  sample.engine = model::EngineKind::kTensorRtLlm;
  simdjson::dom::array list;
  if (root.get_array().get(list) != simdjson::SUCCESS) {
    sample.series.push_back(series_of(root));
  } else {
    std::size_t seen = 0;
    std::optional<model::EngineSeries> newest;
    for (const simdjson::dom::element iteration : list) {
      if (++seen > kMaxIterations) {
        add_problem(evidence, model::Severity::kInfo, "too_many",
                    "more iterations than are read; the first ones were used", 0);
        break;
      }
      model::EngineSeries series = series_of(iteration);
      if (!newest || series.steps >= newest->steps) newest = std::move(series);
    }
    if (newest) sample.series.push_back(std::move(*newest));
  }
  sample.line = sample.series.empty() ? 0 : 1;
  evidence.engine_samples.push_back(std::move(sample));
}

}  // namespace unhang::formats::engine_metrics
