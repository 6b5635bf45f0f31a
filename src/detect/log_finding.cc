// SPDX-License-Identifier: Apache-2.0
#include "detect/log_finding.h"

#include <algorithm>
#include <utility>

namespace unhang::detect {
namespace {

// Signs of a good end or of going on behind `events`: a second attempt that worked, an error that the program
// caught.
bool came_well(const LogAnalysis& logs, const EventRefs& events) {
  if (events.empty() || logs.somebody_waited) return false;
  const std::uint32_t input = events.front()->input;
  return logs.inputs_that_end_well.count(input) != 0 &&
         std::all_of(events.begin(), events.end(),
                     [&](const model::LogEvent* event) { return event->input == input; });
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
  out.events = events;
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
