// SPDX-License-Identifier: Apache-2.0
#include "detect/fault_times.h"

#include <algorithm>

#include "detect/after_the_fact.h"
#include "detect/survived_fault.h"
#include "model/log_event.h"

namespace unhang::detect {
namespace {

// All ranks left whole dumps, everything in them is finished and nobody waited in vain.
bool stands_nowhere(const Analysis& analysis) {
  const model::Case& joined = analysis.joined;
  return joined.has_dumps && analysis.waits.stalls.empty() && !analysis.logs.somebody_waited &&
         std::all_of(joined.ranks.begin(), joined.ranks.end(),
                     [](const auto& rank) { return rank.tail_known; });
}

bool comparable(const HostTimes& times, const Moment& one, const Moment& other) {
  constexpr std::int64_t kYears = 100'000'000'000'000'000;
  Moment much_later = other;
  return !__builtin_add_overflow(one.ns, kYears, &much_later.ns) && times.surely_before(one, much_later);
}

}  // namespace

std::optional<Moment> happened(const Analysis& analysis, const HostTimes& times, const Explanation& told) {
  std::optional<Moment> first;
  for (const model::LogEvent* event : told.events) {
    if (model::role_of(event->kind) != model::LogRole::kCause) return {};
    const auto at = times.of(analysis.logs.origin(event->origin).host, event->first);
    if (!at) return {};
    if (!first || at->ns < first->ns) first = at;
  }
  return first;
}

void weigh_fault_times(const Analysis& analysis, const HostTimes& times,
                       const std::optional<StallStart>& stall, bool is_device_or_link, Explanation& told) {
  if (!told.explains_stall) return;
  if (is_of_no_rank(analysis.names, told)) {
    told.tentative = true;
    told.strength = model::Confidence::kLow;
    told.headline += "; no rank of this job uses that device";
  }
  if (const auto words = outlived(analysis.joined, analysis.names, told, times)) {
    told.explains_stall = false;
    told.headline += "; " + *words + ": no cause of what stands now";
    return;
  }
  if (is_device_or_link && stands_nowhere(analysis)) {
    told.explains_stall = false;
    told.headline += "; all operations of all ranks are finished";
    return;
  }
  if (!stall) return;
  if (const auto after = came_after(analysis.logs, told, *stall, times)) {
    told.explains_stall = false;
    told.headline += "; " + *after + ": no cause";
    return;
  }
  const auto when = happened(analysis, times, told);
  told.order_unknown = when && !comparable(times, *when, stall->at);
}

}  // namespace unhang::detect
