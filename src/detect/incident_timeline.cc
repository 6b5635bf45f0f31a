// SPDX-License-Identifier: Apache-2.0
#include "detect/incident_timeline.h"

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/time_text.h"
#include "detect/timeline_rows.h"

namespace unhang::detect {
namespace {

using model::Category;
using model::State;
using model::Verdict;

constexpr std::int64_t kSecond = 1'000'000'000;
// Lines of logs have whole seconds.
constexpr std::int64_t kOfOneSecond = kSecond;
// What was odd longer ago than this is of another story, unless the explanation cites it.
constexpr std::int64_t kLongAgo = 3'600 * kSecond;

bool stands(const Verdict& verdict) {
  return verdict.category != Category::kHealthy && verdict.category != Category::kPerformanceDegradation &&
         verdict.state != State::kAdvancing && verdict.state != State::kIdle &&
         verdict.state != State::kStarting;
}

// By time; times without a zone stand where UTC would put them. Everything else that differs decides, too.
bool earlier(const TimelineRow& a, const TimelineRow& b) {
  return std::tie(a.at.ns, a.weight, a.host, a.event) < std::tie(b.at.ns, b.weight, b.host, b.event);
}

// Leaves the rows that tell most; returns how many were left out.
std::size_t bound(std::vector<TimelineRow>& rows) {
  if (rows.size() <= kTimelineRows) return 0;
  std::stable_sort(rows.begin(), rows.end(), [](const TimelineRow& a, const TimelineRow& b) {
    return a.weight != b.weight ? a.weight < b.weight : earlier(a, b);
  });
  const std::size_t left_out = rows.size() - kTimelineRows;
  rows.resize(kTimelineRows);
  return left_out;
}

void add_note(std::string text, Verdict& verdict) {
  model::TimelineEvent event;
  event.event = std::move(text);
  verdict.timeline.push_back(std::move(event));
}

// The earliest of one part, or none.
const TimelineRow* first_of(const std::vector<TimelineRow>& rows, TimelinePart part) {
  for (const TimelineRow& row : rows) {
    if (row.part == part) return &row;
  }
  return nullptr;
}

void add_stall_time(const TimelineRows& found, const std::optional<StallStart>& stall, Verdict& verdict) {
  if (stall) {
    verdict.times.stalled_since = base::utc_text(stall->at.ns);
    verdict.times.stalled_basis = stall->basis;
    return;
  }
  // That nothing moved later says something only of what is known to stand.
  if (verdict.state != State::kStopped && verdict.state != State::kDead) return;
  for (const model::ProgressSignal& signal : verdict.progress) {
    if (!signal.usable || signal.last_moved.empty() || signal.last_moved <= verdict.times.stalled_since)
      continue;
    verdict.times.stalled_since = signal.last_moved;
    verdict.times.stalled_basis = signal.signal + " moved last";
  }
  if (!verdict.times.stalled_since.empty() || !found.last_step) return;
  verdict.times.stalled_since = base::utc_text(found.last_step->ns);
  verdict.times.stalled_basis = "the last step in the logs";
}

void add_times(const TimelineRows& found, const std::optional<StallStart>& stall, Verdict& verdict) {
  add_stall_time(found, stall, verdict);
  model::IncidentTimes& times = verdict.times;
  if (const TimelineRow* row = first_of(found.rows, TimelinePart::kComplaint))
    times.detected = base::utc_text(row->at.ns);
  if (const TimelineRow* row = first_of(found.rows, TimelinePart::kDump))
    times.dumped = base::utc_text(row->at.ns);
  for (const TimelineRow& row : found.rows) {
    if (row.part == TimelinePart::kOther || row.part == TimelinePart::kDump) continue;
    std::int64_t long_ago = 0;
    if (stall && row.weight != 0 && !__builtin_sub_overflow(stall->at.ns, kLongAgo, &long_ago) &&
        row.at.ns < long_ago)
      continue;
    times.first_anomaly = base::utc_text(row.at.ns);
    break;
  }
  // Whoever is gone first may be the reason; the job has ended with the last.
  if (found.last_end) times.ended = base::utc_text(found.last_end->ns);
  if (times.ended < times.stalled_since) times.ended.clear();
  if (times.ended.empty() && found.last) times.ended = base::utc_text(found.last->ns);
  if (times.ended < times.stalled_since) times.ended.clear();
}

}  // namespace

void add_timeline(const Analysis& analysis, const HostTimes& times, const std::optional<StallStart>& stall,
                  const Explanation* chosen, EvidenceBook& book, Verdict& verdict) {
  for (const model::HostClock& clock : analysis.joined.clocks) {
    if (clock.known) verdict.clocks.push_back({clock.host, clock.offset_ns, clock.spread_ns, clock.basis});
  }
  const bool incident = stands(verdict);
  TimelineRows found = timeline_rows(analysis, times, incident ? stall : std::nullopt, chosen);
  std::stable_sort(found.rows.begin(), found.rows.end(), earlier);
  if (incident) add_times(found, stall, verdict);
  const std::size_t left_out = bound(found.rows);
  std::stable_sort(found.rows.begin(), found.rows.end(), earlier);
  for (TimelineRow& row : found.rows) {
    model::TimelineEvent event;
    event.time = base::utc_text(row.at.ns);
    event.clock = std::move(row.clock);
    event.host = std::move(row.host);
    event.event = std::move(row.event);
    event.after_the_fact =
        incident && stall && !row.is_call && times.surely_before(stall->at, row.at, kOfOneSecond);
    if (row.operation) event.evidence.push_back(book.cite(*row.operation));
    if (row.record) event.evidence.push_back(book.cite(*row.record));
    verdict.timeline.push_back(std::move(event));
  }
  if (left_out > 0) add_note(std::to_string(left_out) + " more that tell less are left out", verdict);
  if (found.without_time > 0)
    add_note(std::to_string(found.without_time) + (found.without_time == 1 ? " line has" : " lines have") +
                 " no date: where it stands in the order is not known",
             verdict);
}

}  // namespace unhang::detect
