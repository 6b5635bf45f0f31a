// SPDX-License-Identifier: Apache-2.0
//
// Inference engines: vLLM (both engines), SGLang, TensorRT-LLM and Triton, Ray Serve, Dynamo, NIM. When they
// begin to join, are ready, make progress, wait, and die.
#include "formats/log/families.h"
#include "formats/log/fields.h"
#include "formats/log/known_sentence.h"

namespace unhang::formats::log {
namespace {

using model::LogEventKind;

constexpr KnownSentence kSentences[] = {
    // joining
    {"vLLM is using nccl==", LogEventKind::kDistributedInitBegin},
    {"distributed_init_method=", LogEventKind::kDistributedInitBegin, 0, "backend="},
    {"Init torch distributed begin", LogEventKind::kDistributedInitBegin},
    {"MPI size: ", LogEventKind::kDistributedInitBegin, 0, "MPI local size"},
    {"GLOBAL_RANK: ", LogEventKind::kDistributedInitBegin, 0, "MEMBER: "},  // Lightning
    {"All distributed processes registered", LogEventKind::kDistributedInitEnd},
    {"Init torch distributed ends", LogEventKind::kDistributedInitEnd},
    {" is assigned as ", LogEventKind::kDistributedInitEnd, 0, "in world size "},
    // ready
    {"Application startup complete", LogEventKind::kEngineReady},
    {"Uvicorn running on ", LogEventKind::kEngineReady},
    {"The server is fired up and ready", LogEventKind::kEngineReady},
    {"Started GRPCInferenceService at", LogEventKind::kEngineReady},
    {"Started HTTPService at", LogEventKind::kEngineReady},
    {"Deployed app '", LogEventKind::kEngineReady, 0, "successfully"},
    {"' is ready at http", LogEventKind::kEngineReady, 0, "Application '"},
    // dead, or about to be
    {"EngineDeadError", LogEventKind::kEngineDead},
    {"EngineCore encountered a", LogEventKind::kEngineDead},
    {"EngineCore failed to start", LogEventKind::kEngineDead},
    {"Engine core initialization failed", LogEventKind::kEngineDead},
    {"Engine process failed to start", LogEventKind::kEngineDead},
    {"died unexpectedly, shutting down", LogEventKind::kEngineDead},
    {"output_handler failed", LogEventKind::kEngineDead},
    {"Background loop has errored", LogEventKind::kEngineDead},
    {"WorkerProc hit an exception", LogEventKind::kEngineDead},
    {"WorkerProc initialization failed", LogEventKind::kEngineDead},
    {"Worker failed with error", LogEventKind::kEngineDead},
    {"RuntimeError: Executor failed", LogEventKind::kEngineDead},
    {"Error executing method ", LogEventKind::kEngineDead, 0, "might cause deadlock"},
    {"Scheduler hit an exception", LogEventKind::kEngineDead},
    {"Detokenizer hit an exception", LogEventKind::kEngineDead},
    {" scheduler is dead", LogEventKind::kEngineDead},
    {"eceived sigquit from a child proces", LogEventKind::kEngineDead},
    {"SIGQUIT received. signum=", LogEventKind::kEngineDead},
    {"Encountered an error in forward function", LogEventKind::kEngineDead},
    {"Error in event loop", LogEventKind::kEngineDead},
    {"WorkerProc was terminated", LogEventKind::kProcessSignalled, 15},
    // the key-value cache between engines (Mooncake, NIXL)
    {"KVTransferError(", LogEventKind::kCacheTransferFailed},
    {"Decode transfer failed for request", LogEventKind::kCacheTransferFailed},
    {"Prefill transfer failed for request", LogEventKind::kCacheTransferFailed},
    {"Session::writeBody failed", LogEventKind::kCacheTransferFailed},
    {"nixlBackendError", LogEventKind::kCacheTransferFailed},
    // JAX
    {"the remote task has failed, got preempted", LogEventKind::kPeerError},
    // late
    {"No heartbeat received from MQLLMEngine", LogEventKind::kEngineTimeout},
    {"RPC call to ", LogEventKind::kEngineTimeout, 0, " timed out"},
    {"execute_model timed out", LogEventKind::kEngineTimeout},
    {"DeepEP timeout check failed", LogEventKind::kEngineTimeout},
    {"DeepEP dispatch ", LogEventKind::kEngineTimeout, 0, " timeout"},
    {"DeepEP combine ", LogEventKind::kEngineTimeout, 0, " timeout"},
};

constexpr std::string_view kOthers[] = {
    "No available shared memory broadcast",
    "No available block found in",
    "self.watchdog_timeout=",
    "Hang detected",
    "throughput: ",
    "Decode batch",
    "Prefill batch",
    "num_scheduled_requests",
    "Processed prompts:",
    "ompletions HTTP/1.1\" 200",
    "/generate HTTP/1.1\" 200",
};

// Whether the decimal fraction behind `mark` is more than nothing.
bool more_than_zero(std::string_view text, std::string_view mark) {
  const auto rest = behind(text, mark);
  if (!rest) return false;
  const std::string_view number = up_to(trimmed(*rest), " ,;)tR");
  return number.find_first_of("123456789") != number.npos;
}

bool take_progress(const Line& line, Facts& facts) {
  const std::string_view text = line.message;
  const auto add = [&](bool flows) {
    facts.add(event_of(LogEventKind::kRequestProgress, flows ? 1 : 0), line);
    return true;
  };
  if (has(text, "generation throughput: ")) {  // vLLM, every ten seconds
    if (more_than_zero(text, "generation throughput: ") || more_than_zero(text, "prompt throughput: ")) {
      return add(true);
    }
    // Nothing to do is no standstill.
    return more_than_zero(text, "Running: ") ? add(false) : true;
  }
  if (has(text, "Decode batch") && has(text, "#running-req")) {  // SGLang, printed after steps
    return add(true);
  }
  if (has(text, "Prefill batch") && has(text, "#new-token")) return add(true);
  if (has(text, "num_scheduled_requests")) {  // TensorRT-LLM, of each iteration
    return more_than_zero(text, "num_scheduled_requests: ") ||
                   more_than_zero(text, "num_scheduled_requests = ")
               ? add(true)
               : true;
  }
  if (has(text, "Processed prompts:") && has(text, "it/s")) return add(true);
  if (has(text, "ompletions HTTP/1.1\" 200") || has(text, "/generate HTTP/1.1\" 200")) return add(true);
  return false;
}

class EngineFamily : public Family {
 public:
  EngineFamily() : x_triggers(words_of_all(kSentences, kOthers)) {}
  std::span<const std::string_view> triggers() const override { return x_triggers; }

  bool take(const Line& line, Facts& facts) override {
    if (line.nccl != NcclLevel::kNone || line.kernel || quotes_request(line)) return false;
    const std::string_view text = line.message;
    if (has(text, "No available shared memory broadcast") || has(text, "No available block found in")) {
      facts.add(event_of(LogEventKind::kEngineWaitsForWorker, number_after(text, "found in ")), line);
      return true;
    }
    if (const auto seconds = behind(text, "self.watchdog_timeout=")) {
      facts.add(event_of(LogEventKind::kEngineWatchdog, leading_number(*seconds).value_or(-1)), line);
      return true;
    }
    // TensorRT-LLM: "Hang detected on rank 0 in PyExecutor.", "Hang detected, shutting down immediately."
    if (const auto hang = behind(text, "Hang detected")) {
      const bool known =
          hang->starts_with(" on rank") || hang->starts_with(" after") || has(*hang, "shutting down");
      if (!known) return false;
      facts.add(event_of(LogEventKind::kEngineWatchdog, number_after(*hang, " after "),
                         rank_after(*hang, "on rank ")),
                line);
      return true;
    }
    return take_progress(line, facts) || take_known_sentence(kSentences, line, facts);
  }

 private:
  std::vector<std::string_view> x_triggers;
};

}  // namespace

std::unique_ptr<Family> engine_family() {
  return std::make_unique<EngineFamily>();
}

}  // namespace unhang::formats::log
