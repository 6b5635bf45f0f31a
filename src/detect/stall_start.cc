// SPDX-License-Identifier: Apache-2.0
#include "detect/stall_start.h"

#include <algorithm>

#include "detect/stall_place.h"
#include "detect/wording.h"

namespace unhang::detect {
namespace {

using model::Operation;

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kOrdinaryAtLeast = 10 * kSecond;
// Where no history shows how long this job waits when nothing is wrong.
constexpr std::int64_t kOrdinaryUnknown = 60 * kSecond;

// Between the ends of two operations of the lane, at most.
std::int64_t longest_pause(const model::Rank& rank, const model::Lane& lane) {
  std::int64_t longest = 0;
  std::int64_t before = 0;
  std::size_t seen = 0;
  for (const std::uint32_t index : lane.collectives) {
    const std::int64_t end = rank.operations[index].completed_ns;
    if (end <= 0 || !rank.operations[index].has(Operation::kFinished)) continue;
    std::int64_t pause = 0;
    if (before > 0 && end > before && !__builtin_sub_overflow(end, before, &pause))
      longest = std::max(longest, pause);
    before = end;
    ++seen;
  }
  constexpr std::size_t kEnough = 5;
  if (seen < kEnough) return kOrdinaryUnknown;
  std::int64_t twice = 0;
  if (__builtin_mul_overflow(longest, std::int64_t{2}, &twice)) return kOrdinaryUnknown;
  return std::max(twice, kOrdinaryAtLeast);
}

// The last operation of the rank in the group that ended.
std::int64_t last_end(const model::Rank& rank, const model::Lane& lane) {
  std::int64_t last = 0;
  for (const std::uint32_t index : lane.collectives) {
    const Operation& op = rank.operations[index];
    if (op.has(Operation::kFinished)) last = std::max(last, op.completed_ns);
  }
  return last;
}

// Of one place: the first who came, and whether the operation before ended later than that.
std::optional<StallStart> start_of(const Analysis& analysis, const HostTimes& times, const Stall& stall) {
  const model::Case& joined = analysis.joined;
  std::optional<StallStart> first;
  std::optional<Moment> ended;
  for (const model::RankIndex index : stall.waiting) {
    const model::Rank& rank = joined.ranks[index];
    const OperationRef at = place_of(analysis, stall, index);
    if (at.operation >= rank.operations.size()) continue;
    const auto called = times.of(rank.host, rank.operations[at.operation].created_ns);
    if (called && (!first || called->ns < first->at.ns)) {
      first.emplace();
      first->at = *called;
      first->stands = at;
    }
    const model::Lane* lane = stall.transfer ? nullptr : rank.lane(stall.group);
    if (lane == nullptr) continue;
    const auto end = times.of(rank.host, last_end(rank, *lane));
    if (end && (!ended || end->ns > ended->ns)) ended = end;
  }
  if (!first) return {};
  const model::Rank& rank = joined.ranks[first->stands->rank];
  const model::Lane* lane = stall.transfer ? nullptr : rank.lane(stall.group);
  first->ordinary_ns = lane != nullptr ? longest_pause(rank, *lane) : kOrdinaryUnknown;
  first->basis = "rank " + std::to_string(rank.global_rank) + " called " +
                 operation_text(joined, rank.operations[first->stands->operation]) + ", which does not end";
  if (ended && ended->ns > first->at.ns) {
    first->at = *ended;
    first->basis = "the last operation that ended in " + joined.group_label(stall.group);
  }
  return first;
}

std::optional<StallStart> start_in_dumps(const Analysis& analysis, const HostTimes& times) {
  std::optional<StallStart> first;
  for (const Stall& stall : analysis.waits.stalls) {
    auto start = start_of(analysis, times, stall);
    if (start && (!first || start->at.ns < first->at.ns)) first = std::move(start);
  }
  return first;
}

std::optional<StallStart> start_in_logs(const LogAnalysis& logs, const HostTimes& times) {
  std::optional<StallStart> first;
  if (!logs.present()) return first;
  for (const model::WatchdogTimeout* timeout : logs.timeouts) {
    const std::int64_t waited_ms = timeout->ran_ms >= 0 ? timeout->ran_ms : timeout->timeout_ms;
    std::int64_t waited_ns = 0;
    if (waited_ms < 0 || __builtin_mul_overflow(waited_ms, std::int64_t{1'000'000}, &waited_ns)) continue;
    model::LogTime began = timeout->at;
    if (__builtin_sub_overflow(began.ns, waited_ns, &began.ns)) continue;
    const auto at = times.of(logs.origin(timeout->origin).host, began);
    if (!at) continue;
    // One with a zone goes before all without.
    if (first && (first->at.has_zone != at->has_zone ? first->at.has_zone : first->at.ns <= at->ns)) continue;
    first.emplace();
    first->at = *at;
    // The host may have called long before the device came to it.
    first->ordinary_ns = std::clamp(waited_ns / 2, kOrdinaryAtLeast, kOrdinaryUnknown);
    first->basis =
        "the first time-out minus the " + std::to_string(waited_ms / 1000) + " s that it had waited";
  }
  return first;
}

}  // namespace

std::optional<StallStart> find_stall_start(const Analysis& analysis, const HostTimes& times) {
  auto out = start_in_dumps(analysis, times);
  return out ? out : start_in_logs(analysis.logs, times);
}

}  // namespace unhang::detect
