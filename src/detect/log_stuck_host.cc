// SPDX-License-Identifier: Apache-2.0
//
// A process that stands outside of any collective that a watchdog could name: PyTorch's watchdog thread
// itself is stuck, or an engine waits for a worker that does not answer.
#include "base/duration.h"
#include "detect/detector.h"
#include "detect/log_finding.h"

namespace unhang::detect {
namespace {

using model::Category;
using model::Confidence;
using model::LogEvent;
using model::LogEventKind;

}  // namespace

std::vector<Explanation> find_log_stuck_host(const Analysis& analysis) {
  const LogAnalysis& logs = analysis.logs;
  std::vector<Explanation> out;
  if (!logs.present()) return out;
  const EventRefs watchdog = logs.of_all({LogEventKind::kWatchdogStuck, LogEventKind::kInterpreterLock});
  if (!watchdog.empty() && logs.timeouts.empty()) {
    const bool lock = logs.has(LogEventKind::kInterpreterLock);
    Explanation found = log_finding(
        logs, Category::kProcessOrDeviceUnavailable, lock ? "process_stopped" : "gpu_not_progressing",
        Confidence::kLow,
        lock ? std::string("a process cannot get Python's interpreter lock: something holds it inside a call")
             : std::string(
                   "PyTorch's watchdog thread is stuck in a CUDA or NCCL call: the device or its driver "
                   "does not answer, or the whole process stands"),
        watchdog);
    found.state = model::State::kStopped;
    for (const LogEvent* event : watchdog) {
      if (found.other_suspects.size() < 8 && logs.origin(event->origin).global_rank >= 0)
        found.other_suspects.push_back(writer(logs, event->origin));
    }
    found.tentative = true;
    out.push_back(std::move(found));
  }
  const EventRefs engine = logs.of_all(
      {LogEventKind::kEngineWatchdog, LogEventKind::kEngineTimeout, LogEventKind::kEngineWaitsForWorker});
  if (!engine.empty() && logs.timeouts.empty()) {
    const bool compiling = logs.has(LogEventKind::kCompilation) || logs.has(LogEventKind::kWeightLoading);
    const bool only_waits = logs.of(LogEventKind::kEngineWaitsForWorker).size() == engine.size();
    // Ready, or tokens after the wait: it was a wait and is over.
    const LastLines service(logs, {LogEventKind::kEngineReady, LogEventKind::kRequestProgress});
    if (service.behind(*engine.back())) return out;
    Explanation found = log_finding(
        logs, Category::kInconclusive, "unknown", Confidence::kLow,
        only_waits && compiling
            ? std::string("the engine waits for its workers, which compile or load weights: that may take "
                          "minutes and is no fault by itself")
            : std::string("the engine waits for a worker that does not answer; where that worker stands, the "
                          "log does not tell"),
        engine);
    found.state = only_waits && compiling ? model::State::kStarting : model::State::kStopped;
    found.tentative = true;
    out.push_back(std::move(found));
  }
  return out;
}

}  // namespace unhang::detect
