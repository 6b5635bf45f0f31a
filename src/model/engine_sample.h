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

// One engine replica on that page, told apart by its labels. A value that the page does not have, or that is
// no number, is empty.
struct EngineSeries {
  std::string labels;  // `engine="0",model_name="m"`: the labels that tell replicas apart, sorted
  // Gauges. `kv_usage`: share of the KV cache in use, 0 to 1.
  std::optional<double> running, waiting, kv_usage;
  // Counters: only grow while their process lives. `steps` counts engine iterations. `token_events` grows
  // while an answer is being made, in a unit of its own (observed gaps between tokens, bytes sent): some
  // engines count `generation_tokens` only when a request ends.
  std::optional<double> prompt_tokens, generation_tokens, steps, finished_requests, token_events;
};

struct EngineSample {
  EngineKind engine = EngineKind::kUnknown;
  // Ascending labels. Empty: the page has no counters (yet), or TensorRT-LLM's statistics had nothing new.
  std::vector<EngineSeries> series;
  // Seconds since 1970 (process_start_time_seconds): another value is another process, its counters begin
  // anew.
  std::optional<double> process_start;
  std::uint64_t line = 0;  // of the first value that was used; 0: none
};

}  // namespace unhang::model
