// SPDX-License-Identifier: Apache-2.0
#include "formats/engine_metrics/engine_metrics.h"

#include <algorithm>
#include <string>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "formats/catalogue.h"

namespace unhang::formats::engine_metrics {
namespace {

using model::EngineKind;

Evidence read(std::string_view page) {
  Evidence evidence;
  parse(page, evidence);
  return evidence;
}

model::EngineSample sample_of(std::string_view page) {
  const Evidence evidence = read(page);
  EXPECT_EQ(evidence.engine_samples.size(), 1u);
  return evidence.engine_samples.empty() ? model::EngineSample{} : evidence.engine_samples[0];
}

bool has_problem(const Evidence& evidence, std::string_view code) {
  return std::any_of(evidence.problems.begin(), evidence.problems.end(),
                     [&](const model::ImportProblem& problem) { return problem.code == code; });
}

constexpr std::string_view kVllmV1 = R"(# HELP python_gc_objects_collected_total Objects collected during gc
# TYPE python_gc_objects_collected_total counter
python_gc_objects_collected_total{generation="0"} 9174.0
# HELP process_start_time_seconds Start time of the process since unix epoch in seconds.
# TYPE process_start_time_seconds gauge
process_start_time_seconds 1.79600041e+09
# HELP vllm:num_requests_running Number of requests in model execution batches.
# TYPE vllm:num_requests_running gauge
vllm:num_requests_running{engine="0",model_name="org/model-70b"} 12.0
vllm:num_requests_running{engine="1",model_name="org/model-70b"} 9.0
# TYPE vllm:num_requests_waiting gauge
vllm:num_requests_waiting{engine="0",model_name="org/model-70b"} 3.0
vllm:num_requests_waiting{engine="1",model_name="org/model-70b"} 0.0
vllm:num_requests_waiting_by_reason{engine="0",model_name="org/model-70b",reason="capacity"} 2.0
vllm:num_requests_waiting_by_reason{engine="0",model_name="org/model-70b",reason="deferred"} 1.0
# TYPE vllm:kv_cache_usage_perc gauge
vllm:kv_cache_usage_perc{engine="0",model_name="org/model-70b"} 0.4375
vllm:gpu_cache_usage_perc{engine="0",model_name="org/model-70b"} 0.25
# TYPE vllm:prompt_tokens_total counter
vllm:prompt_tokens_total{engine="0",model_name="org/model-70b"} 81234.0
vllm:prompt_tokens_created{engine="0",model_name="org/model-70b"} 1.796e+09
# TYPE vllm:generation_tokens_total counter
vllm:generation_tokens_total{engine="0",model_name="org/model-70b"} 40960.0
vllm:generation_tokens_total{engine="1",model_name="org/model-70b"} 39001.0
# TYPE vllm:request_success_total counter
vllm:request_success_total{engine="0",finished_reason="stop",model_name="org/model-70b"} 310.0
vllm:request_success_total{engine="0",finished_reason="length",model_name="org/model-70b"} 14.0
vllm:request_success_total{engine="0",finished_reason="abort",model_name="org/model-70b"} 1000.0
# TYPE vllm:iteration_tokens_total histogram
vllm:iteration_tokens_total_bucket{engine="0",le="1.0",model_name="org/model-70b"} 17.0
vllm:iteration_tokens_total_bucket{engine="0",le="+Inf",model_name="org/model-70b"} 5120.0
vllm:iteration_tokens_total_count{engine="0",model_name="org/model-70b"} 5120.0
vllm:iteration_tokens_total_sum{engine="0",model_name="org/model-70b"} 122194.0
)";

TEST(EngineMetrics, VllmV1WithTwoReplicas) {
  const Evidence evidence = read(kVllmV1);
  EXPECT_TRUE(evidence.problems.empty());
  const model::EngineSample sample = sample_of(kVllmV1);
  EXPECT_EQ(sample.engine, EngineKind::kVllm);
  EXPECT_EQ(sample.process_start, 1796000410.0);
  EXPECT_EQ(sample.line, 9u);
  ASSERT_EQ(sample.series.size(), 2u);
  const model::EngineSeries& first = sample.series[0];
  EXPECT_EQ(first.labels, R"(engine="0",model_name="org/model-70b")");
  EXPECT_EQ(first.running, 12);
  EXPECT_EQ(first.waiting, 3);
  EXPECT_EQ(first.kv_usage, 0.4375);
  EXPECT_EQ(first.prompt_tokens, 81234);
  EXPECT_EQ(first.generation_tokens, 40960);
  EXPECT_EQ(first.steps, 5120);
  EXPECT_EQ(first.finished_requests, 324) << "requests that were given up are no work done";
  EXPECT_EQ(sample.series[1].running, 9);
  EXPECT_EQ(sample.series[1].generation_tokens, 39001);
  EXPECT_FALSE(sample.series[1].steps);
}

TEST(EngineMetrics, VllmV0NamesAndRaysPrefixMeanTheSame) {
  const auto old = sample_of(
      "vllm:num_requests_running{model_name=\"m\"} 2\nvllm:gpu_cache_usage_perc{model_name=\"m\"} 0.5\n"
      "vllm:generation_tokens{model_name=\"m\"} 7\n");
  const auto ray = sample_of(
      "ray_vllm_num_requests_running{model_name=\"m\"} 2\nray_vllm_kv_cache_usage_perc{model_name=\"m\"} "
      "0.5\n"
      "ray_vllm_generation_tokens_total{model_name=\"m\"} 7\n");
  for (const auto& sample : {old, ray}) {
    EXPECT_EQ(sample.engine, EngineKind::kVllm);
    ASSERT_EQ(sample.series.size(), 1u);
    EXPECT_EQ(sample.series[0].running, 2);
    EXPECT_EQ(sample.series[0].kv_usage, 0.5);
    EXPECT_EQ(sample.series[0].generation_tokens, 7);
  }
}

TEST(EngineMetrics, WaitingByReasonCountsOnlyWhereThereIsNoSum) {
  const auto sample = sample_of(
      "vllm:num_requests_waiting_by_reason{reason=\"capacity\"} 5\n"
      "vllm:num_requests_waiting_by_reason{reason=\"deferred\"} 2\n");
  ASSERT_EQ(sample.series.size(), 1u);
  EXPECT_EQ(sample.series[0].waiting, 7);
}

TEST(EngineMetrics, SglangFoldsRanksAndTakesTokensFromBesideTheScheduler) {
  const auto sample = sample_of(R"(# HELP sglang:num_running_reqs The number of running requests.
# TYPE sglang:num_running_reqs gauge
sglang:num_running_reqs{engine_type="unified",model_name="m",moe_ep_rank="0",pp_rank="0",tp_rank="0"} 8.0
sglang:num_running_reqs{engine_type="unified",model_name="m",moe_ep_rank="1",pp_rank="0",tp_rank="1"} 8.0
sglang:num_running_reqs_offline_batch{engine_type="unified",model_name="m",tp_rank="0"} 4.0
sglang:num_queue_reqs{engine_type="unified",model_name="m",tp_rank="0"} 1.0
sglang:token_usage{engine_type="unified",model_name="m",tp_rank="0"} 0.31
sglang:gen_throughput{engine_type="unified",model_name="m",tp_rank="0"} 512.0
sglang:realtime_tokens_total{mode="decode",model_name="m",tp_rank="0"} 900.0
sglang:realtime_tokens_total{mode="prefill_compute",model_name="m",tp_rank="0"} 100.0
sglang:cuda_graph_passes_total{mode="decode_cuda_graph",model_name="m",tp_rank="0"} 120.0
sglang:cuda_graph_passes_total{mode="decode_none",model_name="m",tp_rank="0"} 3.0
sglang:generation_tokens_total{model_name="m"} 5000.0
sglang:prompt_tokens_total{model_name="m"} 9000.0
sglang:num_requests_total{model_name="m"} 44.0
sglang:inter_token_latency_seconds_count{model_name="m"} 4000.0
)");
  EXPECT_EQ(sample.engine, EngineKind::kSglang);
  ASSERT_EQ(sample.series.size(), 1u);
  const auto& series = sample.series[0];
  EXPECT_EQ(series.labels, R"(model_name="m")");
  EXPECT_EQ(series.running, 8) << "ranks of one replica are not added up";
  EXPECT_EQ(series.waiting, 1);
  EXPECT_EQ(series.kv_usage, 0.31);
  EXPECT_EQ(series.steps, 123);
  EXPECT_EQ(series.generation_tokens, 5000);
  EXPECT_EQ(series.prompt_tokens, 9000);
  EXPECT_EQ(series.finished_requests, 44);
  EXPECT_EQ(series.token_events, 5000) << "the sum of all sources: it grows with any of them";
}

TEST(EngineMetrics, SglangDataParallelReplicasStayApartFromSharedCounters) {
  const auto sample = sample_of(
      "sglang:num_running_reqs{dp_rank=\"0\",model_name=\"m\"} 1\n"
      "sglang:num_running_reqs{dp_rank=\"1\",model_name=\"m\"} 2\n"
      "sglang:generation_tokens_total{model_name=\"m\"} 30\n");
  ASSERT_EQ(sample.series.size(), 3u);
  EXPECT_EQ(sample.series[0].labels, R"(dp_rank="0",model_name="m")");
  EXPECT_EQ(sample.series[1].running, 2);
  EXPECT_EQ(sample.series[2].labels, R"(model_name="m")");
  EXPECT_EQ(sample.series[2].generation_tokens, 30);
  EXPECT_FALSE(sample.series[2].running);
}

TEST(EngineMetrics, SglangPriorityAggregateIsNotCountedTwice) {
  const auto sample = sample_of(
      "sglang:num_running_reqs{model_name=\"m\",priority=\"1\"} 3\n"
      "sglang:num_running_reqs{model_name=\"m\",priority=\"2\"} 4\n"
      "sglang:num_running_reqs{model_name=\"m\",priority=\"\"} 7\n");
  ASSERT_EQ(sample.series.size(), 1u);
  EXPECT_EQ(sample.series[0].running, 7);
}

TEST(EngineMetrics, TensorRtLlmPrometheusOfBothSpellings) {
  for (const std::string prefix : {"trtllm_", "trtllm:"}) {
    const auto sample =
        sample_of(prefix + "num_requests_running{engine_type=\"trtllm\",model_name=\"m\"} 4\n" + prefix +
                  "num_requests_completed_total{model_name=\"m\"} 9\n" + prefix +
                  "request_success_total{finished_reason=\"stop\",model_name=\"m\"} 8\n" + prefix +
                  "generation_tokens_total{model_name=\"m\"} 77\n" + prefix +
                  "kv_cache_gen_alloc_blocks_total{model_name=\"m\"} 12\n");
    EXPECT_EQ(sample.engine, EngineKind::kTensorRtLlm);
    ASSERT_EQ(sample.series.size(), 1u);
    EXPECT_EQ(sample.series[0].running, 4);
    EXPECT_EQ(sample.series[0].finished_requests, 9);
    EXPECT_EQ(sample.series[0].generation_tokens, 77);
    EXPECT_EQ(sample.series[0].token_events, 12);
  }
}

TEST(EngineMetrics, TensorRtLlmIterationStatistics) {
  const auto sample = sample_of(
      R"([{"cpuMemUsage":0,"iter":41,"iterLatencyMS":9.5,"numActiveRequests":3,"numQueuedRequests":1},
          {"iter":42,"iterLatencyMS":9.1,"numActiveRequests":2,"numQueuedRequests":0,
           "kvCacheStats":{"maxNumBlocks":200,"usedNumBlocks":50}}])");
  EXPECT_EQ(sample.engine, EngineKind::kTensorRtLlm);
  ASSERT_EQ(sample.series.size(), 1u);
  EXPECT_EQ(sample.series[0].steps, 42);
  EXPECT_EQ(sample.series[0].running, 2);
  EXPECT_EQ(sample.series[0].waiting, 0);
  EXPECT_EQ(sample.series[0].kv_usage, 0.25);
}

TEST(EngineMetrics, NoNewIterationIsASampleWithoutSeries) {
  const auto sample = sample_of("[]");
  EXPECT_EQ(sample.engine, EngineKind::kTensorRtLlm);
  EXPECT_TRUE(sample.series.empty());
}

TEST(EngineMetrics, CutIterationStatisticsAreAProblem) {
  const Evidence evidence = read(R"([{"iter":41,"numActiveRe)");
  EXPECT_TRUE(evidence.engine_samples.empty());
  EXPECT_TRUE(has_problem(evidence, "not_json"));
}

TEST(EngineMetrics, TritonWithTheTensorRtLlmBackend) {
  const auto sample = sample_of(R"(# HELP nv_inference_request_success Number of successful inference requests
# TYPE nv_inference_request_success counter
nv_inference_request_success{model="tensorrt_llm",version="1"} 20
nv_inference_pending_request_count{model="tensorrt_llm",version="1"} 5
nv_inference_exec_count{model="tensorrt_llm",version="1"} 20
nv_trt_llm_request_metrics{model="tensorrt_llm",request_type="waiting",version="1"} 1
nv_trt_llm_request_metrics{model="tensorrt_llm",request_type="context",version="1"} 2
nv_trt_llm_request_metrics{model="tensorrt_llm",request_type="scheduled",version="1"} 6
nv_trt_llm_request_metrics{model="tensorrt_llm",request_type="max",version="1"} 512
nv_trt_llm_request_metrics{model="tensorrt_llm",request_type="active",version="1"} 7
nv_trt_llm_kv_cache_block_metrics{kv_cache_block_type="fraction",model="tensorrt_llm",version="1"} 0.6
nv_trt_llm_general_metrics{general_type="iteration_counter",model="tensorrt_llm",version="1"} 991
nv_trt_llm_general_metrics{general_type="timestamp",model="tensorrt_llm",version="1"} 1700074049
)");
  EXPECT_EQ(sample.engine, EngineKind::kTriton);
  ASSERT_EQ(sample.series.size(), 1u);
  EXPECT_EQ(sample.series[0].running, 7);
  EXPECT_EQ(sample.series[0].waiting, 1);
  EXPECT_EQ(sample.series[0].steps, 991);
  EXPECT_EQ(sample.series[0].kv_usage, 0.6);
  EXPECT_EQ(sample.series[0].finished_requests, 20);
}

TEST(EngineMetrics, DynamoAloneAndWithTheEngineBehindIt) {
  const std::string frontend =
      "dynamo_frontend_inflight_requests{model=\"m\"} 6\ndynamo_frontend_queued_requests{model=\"m\"} 2\n"
      "dynamo_frontend_output_tokens_total{model=\"m\"} 800\ndynamo_frontend_requests_total{model=\"m\"} "
      "10\n";
  const auto alone = sample_of(frontend);
  EXPECT_EQ(alone.engine, EngineKind::kDynamo);
  ASSERT_EQ(alone.series.size(), 1u);
  EXPECT_EQ(alone.series[0].running, 6);
  EXPECT_EQ(alone.series[0].generation_tokens, 800);

  const auto behind = sample_of(
      "dynamo_component_inflight_requests{dynamo_component=\"backend\"} 3\n"
      "vllm:num_requests_running{engine=\"0\"} 2\nvllm:generation_tokens_total{engine=\"0\"} 5\n");
  EXPECT_EQ(behind.engine, EngineKind::kVllm);
  ASSERT_EQ(behind.series.size(), 1u);
  EXPECT_EQ(behind.series[0].running, 2);
}

TEST(EngineMetrics, NumbersThatAreNoneAreAbsent) {
  const auto sample = sample_of(
      "vllm:num_requests_running NaN\nvllm:generation_tokens_total +Inf\nvllm:prompt_tokens_total 4\n");
  ASSERT_EQ(sample.series.size(), 1u);
  EXPECT_FALSE(sample.series[0].running);
  EXPECT_FALSE(sample.series[0].generation_tokens);
  EXPECT_EQ(sample.series[0].prompt_tokens, 4);
}

TEST(EngineMetrics, GarbageIsCountedAndTheRestIsRead) {
  const Evidence evidence = read(
      "vllm:num_requests_running{engine=\"0\" 1\n<html>502 Bad Gateway</html>\n%&\nlonely\n"
      "vllm:num_requests_waiting{engine=\"0\"} 2\n");
  ASSERT_EQ(evidence.problems.size(), 1u);
  EXPECT_EQ(evidence.problems[0].code, "not_a_metric");
  EXPECT_NE(evidence.problems[0].text.find("4 lines"), std::string::npos);
  EXPECT_NE(evidence.problems[0].text.find("line 1;"), std::string::npos);
  ASSERT_EQ(evidence.engine_samples.size(), 1u);
  ASSERT_EQ(evidence.engine_samples[0].series.size(), 1u);
  EXPECT_EQ(evidence.engine_samples[0].series[0].waiting, 2);
}

TEST(EngineMetrics, LineEndsOfWindowsAndOpenMetrics) {
  const Evidence evidence = read(
      "# TYPE vllm:generation_tokens counter\r\n# UNIT vllm:generation_tokens tokens\r\n"
      "vllm:generation_tokens_total{engine=\"0\"} 17 1732900000.5 # {trace_id=\"a\"} 1.0\r\n"
      "vllm:num_requests_running{engine=\"0\"} 1.0\r\n# EOF\r\nvllm:num_requests_running{engine=\"0\"} "
      "9.0\r\n");
  EXPECT_TRUE(evidence.problems.empty());
  ASSERT_EQ(evidence.engine_samples[0].series.size(), 1u);
  EXPECT_EQ(evidence.engine_samples[0].series[0].generation_tokens, 17);
  EXPECT_EQ(evidence.engine_samples[0].series[0].running, 1) << "nothing counts behind the end";
}

TEST(EngineMetrics, APageThatWasCutSaysSo) {
  EXPECT_TRUE(has_problem(read("# UNIT a b\nvllm:prompt_tokens_total 4\n"), "truncated"));
  EXPECT_TRUE(has_problem(read("vllm:prompt_tokens_total 4"), "no_final_newline"));
  EXPECT_TRUE(has_problem(read("# TYPE up gauge\nup 1\n"), "no_engine_counters"));
}

TEST(EngineMetrics, IsRecognisedByContent) {
  EXPECT_TRUE(sniff(kVllmV1));
  EXPECT_TRUE(sniff("\n\n# TYPE up gauge\nup 1\n"));
  EXPECT_TRUE(sniff("vllm:num_requests_running{engine=\"0\"} 1\n"));
  EXPECT_TRUE(sniff(R"([{"iter":1,"iterLatencyMS":2,"numActiveRequests":0}])"));
  for (const char* other : {"", "\n", "# HELP", "# a shell script\necho 1\n", "{\"version\":\"2.10\"}", "[]",
                            "hello world 1\n", "vllm:num_requests_running\n", "NCCL version 2.28.9\n"}) {
    EXPECT_FALSE(sniff(other)) << other;
  }
  const Evidence evidence = read_evidence("page.txt", kVllmV1);
  EXPECT_EQ(evidence.kind, "engine_metrics");
  EXPECT_EQ(evidence.engine_samples.size(), 1u);
}

TEST(EngineMetrics, ManyReplicasAreBounded) {
  std::string page;
  for (std::size_t i = 0; i < kMaxSeries + 5; ++i) {
    page += "vllm:num_requests_running{engine=\"" + std::to_string(i) + "\"} 1\n";
  }
  const Evidence evidence = read(page);
  EXPECT_EQ(evidence.engine_samples[0].series.size(), kMaxSeries);
  EXPECT_TRUE(has_problem(evidence, "too_many"));
}

// Whatever stands between them, sound lines are read, and no cut makes a page that reads as more.
RC_GTEST_PROP(EngineMetricsProperty, SoundLinesSurviveAnyNeighbours, (std::string noise)) {
  noise.erase(std::remove(noise.begin(), noise.end(), '\n'), noise.end());
  if (noise.substr(0, 5) == "# EOF") noise = "x";
  const std::string page = "vllm:num_requests_running{engine=\"0\"} 3\n" + ("." + noise) +
                           "\nvllm:generation_tokens_total{engine=\"0\"} 11\n";
  const auto sample = sample_of(page);
  RC_ASSERT(sample.series.size() == 1u);
  RC_ASSERT(sample.series[0].running == 3.0);
  RC_ASSERT(sample.series[0].generation_tokens == 11.0);
}

TEST(EngineMetrics, APageCutAnywhereGivesNoLargerValues) {
  const auto whole = sample_of(kVllmV1);
  for (std::size_t size = 0; size < kVllmV1.size(); ++size) {
    const auto part = sample_of(kVllmV1.substr(0, size));
    ASSERT_LE(part.series.size(), whole.series.size());
    for (std::size_t i = 0; i < part.series.size(); ++i) {
      ASSERT_LE(part.series[i].running.value_or(0), *whole.series[i].running);
      ASSERT_LE(part.series[i].generation_tokens.value_or(0), *whole.series[i].generation_tokens);
    }
  }
}

}  // namespace
}  // namespace unhang::formats::engine_metrics
