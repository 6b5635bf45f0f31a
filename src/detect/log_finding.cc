// SPDX-License-Identifier: Apache-2.0
#include "detect/log_finding.h"

#include <algorithm>
#include <utility>

namespace unhang::detect {
namespace {

using model::LogEvent;
using model::LogEventKind;

// Signs of a good end or of going on, behind the last of `events` and of everything else that was wrong in
// their files: a second attempt that worked, an error that the program caught.
bool came_well(const LogAnalysis& logs, const EventRefs& events) {
  if (events.empty() || logs.somebody_waited) return false;
  std::uint64_t last_wrong = 0;
  const std::uint32_t input = events.front()->input;
  for (const LogEvent* event : events) {
    if (event->input != input) return false;
  }
  for (const LogEvent& event : logs.joined->logs.events) {
    if (event.input == input && model::role_of(event.kind) >= model::LogRole::kConsequence &&
        event.kind != LogEventKind::kStoreClosed && event.kind != LogEventKind::kConnectionClosed)
      last_wrong = std::max(last_wrong, event.last_line);
  }
  if (last_sign_of_life(logs, input) > last_wrong) return true;
  const EventRefs& ends = logs.of(LogEventKind::kTrainingEnd);
  return std::any_of(ends.begin(), ends.end(),
                     [&](const LogEvent* end) { return end->input == input && end->last_line > last_wrong; });
}

}  // namespace

Explanation log_finding(const LogAnalysis& logs, model::Category category, std::string_view cause,
                        model::Confidence strength, std::string headline, const EventRefs& events) {
  Explanation out;
  out.category = category;
  out.cause = cause;
  out.strength = strength;
  out.headline = std::move(headline);
  out.phase = category == model::Category::kInitializationHang ? model::Phase::kInit : phase_of(logs);
  out.state =
      category == model::Category::kProcessOrDeviceUnavailable ? model::State::kDead : model::State::kStopped;
  cite_all(logs, events, out);
  if (came_well(logs, events)) {
    out.strength = model::Confidence::kLow;
    out.explains_stall = false;
  }
  return out;
}

model::Category init_or_transport(const LogAnalysis& logs) {
  return logs.past_init ? model::Category::kTransportStall : model::Category::kInitializationHang;
}

}  // namespace unhang::detect
