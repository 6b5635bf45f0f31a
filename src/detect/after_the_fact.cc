// SPDX-License-Identifier: Apache-2.0
#include "detect/after_the_fact.h"

#include <algorithm>

#include "model/log_event.h"

namespace unhang::detect {

std::optional<std::string> came_after(const LogAnalysis& logs, const Explanation& explanation,
                                      const StallStart& stall, const HostTimes& times) {
  if (explanation.events.empty()) return {};
  std::optional<std::int64_t> first_ns;
  for (const model::LogEvent* event : explanation.events) {
    // Of what may be cause or consequence the detector has judged by the order of lines.
    if (model::role_of(event->kind) != model::LogRole::kCause) return {};
    const auto at = times.of(logs.origin(event->origin).host, event->first);
    if (!at || !times.surely_before(stall.at, *at, stall.ordinary_ns)) return {};
    first_ns = std::min(first_ns.value_or(at->ns), at->ns);
  }
  const std::int64_t seconds = (*first_ns - stall.at.ns) / 1'000'000'000;
  return "it came " + std::to_string(seconds) + " s after the stall had begun";
}

}  // namespace unhang::detect
