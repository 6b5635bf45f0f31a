// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "formats/log/told_for_tests.h"

namespace unhang::formats::log {
namespace {

using model::LogEventKind;

constexpr ToldLine kTold[] = {
    {"vLLM is using nccl==2.28.9", LogEventKind::kDistributedInitBegin},
    {"world_size=16 rank=0 local_rank=0 distributed_init_method=tcp://10.0.0.1:25000 backend=nccl",
     LogEventKind::kDistributedInitBegin},
    {"Init torch distributed begin.", LogEventKind::kDistributedInitBegin},
    {"[TensorRT-LLM][INFO] MPI size: 4, MPI local size: 4, rank: 2", LogEventKind::kDistributedInitBegin},
    {"Init torch distributed ends. mem usage=1.2 GB", LogEventKind::kDistributedInitEnd},
    {"rank 0 in world size 2 is assigned as DP rank 0, PP rank 0, TP rank 0, EP rank 0",
     LogEventKind::kDistributedInitEnd},
    {"INFO:     Application startup complete.", LogEventKind::kEngineReady},
    {"The server is fired up and ready to roll!", LogEventKind::kEngineReady},
    {"Started GRPCInferenceService at 0.0.0.0:8001", LogEventKind::kEngineReady},
    {"Application 'default' is ready at http://127.0.0.1:8000/.", LogEventKind::kEngineReady},
    {"Engine 000: Avg prompt throughput: 0.0 tokens/s, Avg generation throughput: 12.3 tokens/s, Running: 1 "
     "reqs, "
     "Waiting: 0 reqs, GPU KV cache usage: 0.1%",
     LogEventKind::kRequestProgress, 1},
    {"Avg prompt throughput: 0.0 tokens/s, Avg generation throughput: 0.0 tokens/s, Running: 5 reqs, "
     "Swapped: 0 reqs",
     LogEventKind::kRequestProgress, 0},
    {"Decode batch. #running-req: 1, #token: 100, token usage: 0.00, gen throughput (token/s): 12.3, "
     "#queue-req: 0",
     LogEventKind::kRequestProgress, 1},
    {"Prefill batch. #new-seq: 1, #new-token: 7, #cached-token: 0, token usage: 0.00, #running-req: 0",
     LogEventKind::kRequestProgress, 1},
    {"INFO:     10.0.0.9:1 - \"POST /v1/chat/completions HTTP/1.1\" 200 OK", LogEventKind::kRequestProgress,
     1},
    {"iter = 12, global_rank = 0, rank = 0, num_scheduled_requests: 3, host_step_time = 12.3ms",
     LogEventKind::kRequestProgress, 1},
    {"No available shared memory broadcast block found in 60 seconds. This typically happens when some "
     "processes are "
     "hanging",
     LogEventKind::kEngineWaitsForWorker, 60},
    {"No available block found in 60 second.", LogEventKind::kEngineWaitsForWorker, 60},
    {"TimeoutError: RPC call to execute_model timed out.", LogEventKind::kEngineTimeout},
    {"TimeoutError: RPC call to sample_tokens timed out.", LogEventKind::kEngineTimeout},
    {"DeepEP timeout check failed: rank = 6, thread = 0, value = 0)", LogEventKind::kEngineTimeout},
    {"vllm.v1.engine.exceptions.EngineDeadError: EngineCore encountered an issue. See stack trace (above) "
     "for the "
     "root cause.",
     LogEventKind::kEngineDead},
    {"EngineCore encountered a fatal error.", LogEventKind::kEngineDead},
    {"Engine core proc EngineCore_DP0 died unexpectedly, shutting down client.", LogEventKind::kEngineDead},
    {"Worker proc VllmWorker-0 died unexpectedly, shutting down executor.", LogEventKind::kEngineDead},
    {"RuntimeError: Engine core initialization failed. See root cause above.", LogEventKind::kEngineDead},
    {"Scheduler hit an exception: Traceback (most recent call last):", LogEventKind::kEngineDead},
    {"Received sigquit from a child proces. It usually means the child failed.", LogEventKind::kEngineDead},
    {"Rank 1 scheduler is dead. Please check if there are relevant logs.", LogEventKind::kEngineDead},
    {"WorkerProc was terminated", LogEventKind::kProcessSignalled, 15},
    {"Watchdog timeout (self.watchdog_timeout=300)", LogEventKind::kEngineWatchdog, 300},
    {"Scheduler watchdog timeout (self.watchdog_timeout=600.0, self.soft=False)",
     LogEventKind::kEngineWatchdog, 600},
    {"Hang detected on rank 2 in PyExecutor.", LogEventKind::kEngineWatchdog, -1, 2},
    {"Hang detected, shutting down immediately.", LogEventKind::kEngineWatchdog, -1},
};

TEST(EngineFamily, TellsKindsOfAllWordings) {
  EXPECT_EQ(not_told(engine_family, kTold), "");
}
TEST(EngineFamily, HoldsOnDamagedLines) {
  EXPECT_LE(most_events_of_damaged(engine_family, kTold), 8u);
}

TEST(EngineFamily, OrdinaryLinesAreQuiet) {
  constexpr std::string_view kLines[] = {
      "Custom allreduce is disabled because it's not supported on more than two PCIe-only GPUs.",
      "Using network plugin",
      "Avg prompt throughput: 0.0 tokens/s, Avg generation throughput: 0.0 tokens/s, Running: 0 reqs, "
      "Waiting: 0 reqs",
      "num_scheduled_requests: 0",
      "Memory throughput: 3000 GB/s",
      "INFO:     Started server process [1]",
      "Hang detected in nobody's words",
      "INFO:     10.0.0.9:1 - \"POST /v1/chat/completions HTTP/1.1\" 500 Internal Server Error",
      "Received request cmpl-1: prompt: 'The server is fired up and ready to roll'",
  };
  EXPECT_EQ(told_of(engine_family, kLines), "");
}

}  // namespace
}  // namespace unhang::formats::log
