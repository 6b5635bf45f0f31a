// SPDX-License-Identifier: Apache-2.0
#include "formats/engine_metrics/names.h"

#include <algorithm>
#include <array>

#include "formats/engine_metrics/engine_metrics.h"

namespace unhang::formats::engine_metrics {
namespace {

using model::EngineKind;

constexpr auto kVllm = EngineKind::kVllm;
constexpr auto kSglang = EngineKind::kSglang;
constexpr auto kTrtLlm = EngineKind::kTensorRtLlm;
constexpr auto kDynamo = EngineKind::kDynamo;
constexpr auto kTriton = EngineKind::kTriton;

// Sorted by name, then as it is preferred.
//
// Sources. vLLM: docs.vllm.ai/en/v0.4.0 to v0.9.1 "Production Metrics" (V0 and V1) and
// vllm/v1/metrics/loggers.py: V1 counts prompt tokens when the first token of an answer is there, and no
// counter moves during a prefill; only the KV cache's usage does. SGLang: srt/metrics/collector.py and its
// docs "Production Metrics": generation_tokens_total grows when a request ends (releases to 2025 at least),
// the inter-token histogram with each part that is sent, realtime_tokens and cuda_graph_passes with each
// forward pass or log interval. TensorRT-LLM: tensorrt_llm/metrics/collector.py (Dynamo up to 0.7 wrote
// "trtllm:"): token counters grow when a request ends, the block counters with the iterations. Triton:
// docs "Metrics", tensorrtllm_backend README "Triton Metrics" (general_metrics was general_statistics in
// 23.11). Dynamo: docs "Metrics" v0.7 to v1.6.
constexpr std::array kNames{
    KnownName{"dynamo_component_inflight_requests", kDynamo, Field::kRunning, 1},
    KnownName{"dynamo_component_requests", kDynamo, Field::kFinishedRequests, 1},
    KnownName{"dynamo_component_response_bytes", kDynamo, Field::kTokenEvents},
    KnownName{"dynamo_frontend_inflight_requests", kDynamo, Field::kRunning},
    KnownName{"dynamo_frontend_inter_token_latency_seconds_count", kDynamo, Field::kTokenEvents},
    KnownName{"dynamo_frontend_output_tokens", kDynamo, Field::kGenerationTokens},
    KnownName{"dynamo_frontend_queued_requests", kDynamo, Field::kWaiting},
    KnownName{"dynamo_frontend_requests", kDynamo, Field::kFinishedRequests},
    KnownName{"nv_inference_exec_count", kTriton, Field::kSteps, 1},
    KnownName{"nv_inference_pending_request_count", kTriton, Field::kWaiting, 1},
    KnownName{"nv_inference_request_success", kTriton, Field::kFinishedRequests},
    KnownName{"nv_trt_llm_general_metrics", kTriton, Field::kSteps, 0, "general_type", "iteration_counter"},
    KnownName{"nv_trt_llm_general_statistics", kTriton, Field::kSteps, 0, "general_type",
              "iteration_counter"},
    KnownName{"nv_trt_llm_kv_cache_block_metrics", kTriton, Field::kKvUsage, 0, "kv_cache_block_type",
              "fraction"},
    KnownName{"nv_trt_llm_request_metrics", kTriton, Field::kRunning, 0, "request_type", "active"},
    KnownName{"nv_trt_llm_request_metrics", kTriton, Field::kRunning, 1, "request_type", "scheduled"},
    KnownName{"nv_trt_llm_request_metrics", kTriton, Field::kWaiting, 0, "request_type", "waiting"},
    KnownName{"process_start_time_seconds", EngineKind::kUnknown, Field::kProcessStart},
    KnownName{"sglang_cuda_graph_passes", kSglang, Field::kSteps, 1},
    KnownName{"sglang_generation_tokens", kSglang, Field::kGenerationTokens},
    KnownName{"sglang_inter_token_latency_seconds_count", kSglang, Field::kTokenEvents},
    KnownName{"sglang_num_queue_reqs", kSglang, Field::kWaiting},
    KnownName{"sglang_num_requests", kSglang, Field::kFinishedRequests},
    KnownName{"sglang_num_running_reqs", kSglang, Field::kRunning},
    KnownName{"sglang_prompt_tokens", kSglang, Field::kPromptTokens},
    KnownName{"sglang_realtime_tokens", kSglang, Field::kTokenEvents},
    KnownName{"sglang_token_usage", kSglang, Field::kKvUsage},
    KnownName{"trtllm_generation_tokens", kTrtLlm, Field::kGenerationTokens},
    KnownName{"trtllm_kv_cache_gen_alloc_blocks", kTrtLlm, Field::kTokenEvents},
    KnownName{"trtllm_kv_cache_iter_missed_blocks", kTrtLlm, Field::kTokenEvents},
    KnownName{"trtllm_kv_cache_utilization", kTrtLlm, Field::kKvUsage},
    KnownName{"trtllm_num_requests_completed", kTrtLlm, Field::kFinishedRequests},
    KnownName{"trtllm_num_requests_running", kTrtLlm, Field::kRunning},
    KnownName{"trtllm_num_requests_waiting", kTrtLlm, Field::kWaiting},
    KnownName{"trtllm_prompt_tokens", kTrtLlm, Field::kPromptTokens},
    KnownName{"trtllm_request_success", kTrtLlm, Field::kFinishedRequests, 1},
    KnownName{"vllm_generation_tokens", kVllm, Field::kGenerationTokens},
    KnownName{"vllm_gpu_cache_usage_perc", kVllm, Field::kKvUsage, 1},
    KnownName{"vllm_inter_token_latency_seconds_count", kVllm, Field::kTokenEvents},
    KnownName{"vllm_iteration_tokens_count", kVllm, Field::kSteps, 1},
    KnownName{"vllm_iteration_tokens_total_count", kVllm, Field::kSteps},
    KnownName{"vllm_kv_cache_usage_perc", kVllm, Field::kKvUsage},
    KnownName{"vllm_num_requests_running", kVllm, Field::kRunning},
    KnownName{"vllm_num_requests_waiting", kVllm, Field::kWaiting},
    KnownName{"vllm_num_requests_waiting_by_reason", kVllm, Field::kWaiting, 1},
    KnownName{"vllm_prompt_tokens", kVllm, Field::kPromptTokens},
    KnownName{"vllm_request_success", kVllm, Field::kFinishedRequests},
};

constexpr bool by_name(const KnownName& a, const KnownName& b) {
  return a.name < b.name;
}
static_assert(std::is_sorted(kNames.begin(), kNames.end(), by_name));

// With other spellings of one engine the same label tells replicas apart.
constexpr std::array<std::string_view, 19> kReplicaLabels{"dp_rank",
                                                          "dynamo_component",
                                                          "dynamo_endpoint",
                                                          "dynamo_namespace",
                                                          "engine",
                                                          "engine_id",
                                                          "engine_index",
                                                          "instance",
                                                          "job",
                                                          "model",
                                                          "model_name",
                                                          "node",
                                                          "pod",
                                                          "replica",
                                                          "role",
                                                          "served_model_name",
                                                          "version",
                                                          "worker",
                                                          "worker_id"};
static_assert(std::is_sorted(kReplicaLabels.begin(), kReplicaLabels.end()));

bool ends_with(std::string_view name, std::string_view ending) {
  return name.size() > ending.size() && name.substr(name.size() - ending.size()) == ending;
}

}  // namespace

NameRange known_names(std::string_view name) {
  // Nearly all lines of a page are buckets of histograms.
  if (name.size() > kMaxName || ends_with(name, "_bucket") || ends_with(name, "_sum")) return {};
  std::array<char, kMaxName> spelled;
  if (name.substr(0, 4) == "ray_") name.remove_prefix(4);
  std::transform(name.begin(), name.end(), spelled.begin(), [](char c) { return c == ':' ? '_' : c; });
  std::string_view key(spelled.data(), name.size());
  constexpr std::string_view kTotal = "_total";
  if (ends_with(key, kTotal)) key.remove_suffix(kTotal.size());
  const auto [first, last] = std::equal_range(kNames.begin(), kNames.end(), KnownName{.name = key}, by_name);
  if (first == last) return {};
  return {&*first, &*first + (last - first)};
}

LabelRole role_of_label(std::string_view name) {
  if (std::binary_search(kReplicaLabels.begin(), kReplicaLabels.end(), name)) return LabelRole::kReplica;
  return ends_with(name, "_rank") ? LabelRole::kRank : LabelRole::kPart;
}

}  // namespace unhang::formats::engine_metrics
