// SPDX-License-Identifier: Apache-2.0
//
// One reading of an inference engine's own counters (its Prometheus page): a signal of progress that does not
// depend on NCCL. Values are as exported; what they mean for "stopped" is decided in detect/.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace unhang::model {

enum class EngineKind : std::uint8_t { kUnknown, kVllm, kSglang, kTensorRtLlm, kDynamo, kTriton };
std::string_view name_of(EngineKind value);  // "vllm"

// One engine replica on that page, told apart by its labels.
struct EngineSeries {
  std::string labels;  // `model_name="m",engine="0"`: the labels that tell replicas apart, sorted
  // Gauges.
  std::optional<double> running, waiting;
  // Counters: only grow while their process lives. `steps` counts engine iterations.
  std::optional<double> prompt_tokens, generation_tokens, steps, finished_requests;
};

struct EngineSample {
  EngineKind engine = EngineKind::kUnknown;
  std::vector<EngineSeries> series;  // ascending labels
  // Seconds since 1970 (process_start_time_seconds): another value is another process, its counters begin
  // anew.
  std::optional<double> process_start;
  std::uint64_t line = 0;
};

}  // namespace unhang::model
