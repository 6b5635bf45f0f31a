// SPDX-License-Identifier: Apache-2.0
#include "detect/survived_fault.h"

#include <algorithm>
#include <set>
#include <vector>

#include "base/rank_set.h"
#include "model/log_event.h"

namespace unhang::detect {
namespace {

using model::Operation;

// Launched ahead, or finished while the device was going down: that much is no proof of health.
constexpr std::int64_t kWellBehind = 60'000'000'000;
constexpr std::int64_t kSecond = 1'000'000'000;

std::vector<std::int32_t> ranks_of(const RankNames& names, const Explanation& explanation) {
  std::set<std::int32_t> out;
  for (const auto* list : {&explanation.other_culprits, &explanation.other_suspects}) {
    for (const model::Subject& subject : *list) {
      std::vector<std::int32_t> ranks = names.of(subject);
      // A NIC or a port is as good as the ranks of its host.
      if (ranks.empty() && subject.kind != model::SubjectKind::kGpu) ranks = names.on_host(subject.host);
      out.insert(ranks.begin(), ranks.end());
    }
  }
  return {out.begin(), out.end()};
}

std::optional<Moment> last_event(const model::Case& joined, const Explanation& explanation,
                                 const HostTimes& times) {
  std::optional<Moment> last;
  for (const model::LogEvent* event : explanation.events) {
    if (model::role_of(event->kind) != model::LogRole::kCause) return {};
    const auto at = times.of(joined.logs.origins[event->origin].host, event->last);
    if (!at) return {};
    if (!last || at->ns > last->ns) last = at;
  }
  return last;
}

std::optional<Moment> last_finished(const model::Rank& rank, const HostTimes& times) {
  for (auto op = rank.operations.rbegin(); op != rank.operations.rend(); ++op) {
    if (op->has(Operation::kFinished) && op->completed_ns > 0) return times.of(rank.host, op->completed_ns);
  }
  return {};
}

}  // namespace

std::optional<std::string> outlived(const model::Case& joined, const RankNames& names,
                                    const Explanation& explanation, const HostTimes& times) {
  if (explanation.events.empty()) return {};
  const auto fault = last_event(joined, explanation, times);
  const std::vector<std::int32_t> ranks = ranks_of(names, explanation);
  if (!fault || ranks.empty()) return {};
  std::int64_t earliest_end = INT64_MAX;
  for (const std::int32_t global : ranks) {
    const auto index = joined.find_rank(global);
    if (!index || joined.ranks[*index].operations.empty()) return {};
    const auto end = last_finished(joined.ranks[*index], times);
    if (!end || !times.surely_before(*fault, *end, kWellBehind)) return {};
    earliest_end = std::min(earliest_end, end->ns);
  }
  const std::int64_t seconds = (earliest_end - fault->ns) / kSecond;
  return (ranks.size() == 1 ? "rank " : "ranks ") + base::fold_ranks(ranks) + " went on for " +
         (seconds < 7'200 ? std::to_string(seconds / 60) + " min" : std::to_string(seconds / 3'600) + " h") +
         " after it";
}

bool is_of_no_rank(const RankNames& names, const Explanation& explanation) {
  std::vector<const model::Subject*> devices;
  for (const auto* list : {&explanation.other_culprits, &explanation.other_suspects}) {
    for (const model::Subject& subject : *list) devices.push_back(&subject);
  }
  return !devices.empty() && std::all_of(devices.begin(), devices.end(), [&](const model::Subject* subject) {
    return subject->kind == model::SubjectKind::kGpu && !subject->rank &&
           names.knows_all_gpus_of(subject->host) && names.of(*subject).empty();
  });
}

}  // namespace unhang::detect
