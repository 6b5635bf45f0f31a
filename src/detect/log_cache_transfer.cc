// SPDX-License-Identifier: Apache-2.0
//
// Transfers of the key-value cache between engines that failed. They go their own way, past NCCL and past all
// that watches it.
#include "detect/detector.h"
#include "detect/log_finding.h"

namespace unhang::detect {

std::vector<Explanation> find_log_cache_transfer(const Analysis& analysis) {
  const LogAnalysis& logs = analysis.logs;
  const EventRefs& events = logs.of(model::LogEventKind::kCacheTransferFailed);
  if (!logs.present() || events.empty()) return {};
  Explanation found = log_finding(
      logs, model::Category::kNotCommunication, "outside_coverage", model::Confidence::kLow,
      "transfers of the key-value cache between engines fail: their transport is none that NCCL, RAS or "
      "the Flight Recorder sees",
      events);
  found.state = model::State::kUnknown;
  found.tentative = true;
  found.explains_stall = true;  // other requests that go on do not mend those that failed
  return {std::move(found)};
}

}  // namespace unhang::detect
