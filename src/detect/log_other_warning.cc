// SPDX-License-Identifier: Apache-2.0
//
// A warning of NCCL, or of a network plugin inside it, in words that no reader knows: it is shown for what it
// is, and what stage the job was in is all that follows from it.
#include "detect/detector.h"
#include "detect/log_finding.h"

namespace unhang::detect {

std::vector<Explanation> find_log_other_warning(const Analysis& analysis) {
  const LogAnalysis& logs = analysis.logs;
  const EventRefs& events = logs.of(model::LogEventKind::kOtherWarning);
  if (!logs.present() || events.empty()) return {};
  const model::LogEvent& first = *events.front();
  const std::string who = writer_text(logs, first.origin);
  // Without an error code that was handed up, or somebody who waits, it may have been no more than a warning.
  const bool failed = logs.has(model::LogEventKind::kUnwinding) ||
                      logs.has(model::LogEventKind::kNcclError) || logs.somebody_waited ||
                      logs.has(model::LogEventKind::kProcessExit);
  if (!failed && logs.past_init) return {};
  Explanation found =
      log_finding(logs, init_or_transport(logs), "unknown", model::Confidence::kLow,
                  "NCCL warns" + (who.empty() ? std::string() : " in " + who) + ": " + first.detail, events);
  found.state = failed ? model::State::kDead : model::State::kUnknown;
  found.tentative = true;
  return {std::move(found)};
}

}  // namespace unhang::detect
