// SPDX-License-Identifier: Apache-2.0
//
// A rank whose host did something long and silent (a checkpoint, tokenising, data, weights, compilation) when
// the others began to wait: the stall began at the time-out minus its limit, not where the log ends.
#include <algorithm>
#include <optional>

#include "base/duration.h"
#include "detect/detector.h"
#include "detect/log_finding.h"

namespace unhang::detect {
namespace {

using model::Category;
using model::Confidence;
using model::LogEvent;
using model::LogEventKind;

const char* words_for(LogEventKind kind) {
  switch (kind) {
    case LogEventKind::kCheckpoint:
      return "was at a checkpoint";
    case LogEventKind::kDataLoading:
      return "was loading or tokenising data";
    case LogEventKind::kWeightLoading:
      return "was loading weights";
    case LogEventKind::kCompilation:
      return "was compiling or capturing graphs";
    default:
      return "was busy";
  }
}

std::optional<std::int64_t> stall_start(const LogAnalysis& logs, model::LogClock clock) {
  std::optional<std::int64_t> earliest;
  for (const model::WatchdogTimeout* timeout : logs.timeouts) {
    const std::int64_t limit = std::max(timeout->timeout_ms, timeout->ran_ms);
    if (timeout->at.clock != clock || limit < 0) continue;
    const std::int64_t start = timeout->at.ns - limit * 1'000'000;
    earliest = std::min(earliest.value_or(start), start);
  }
  return earliest;
}

// Steps after the work show that it ended.
bool went_on_after(const LogAnalysis& logs, const LogEvent& work) {
  return std::any_of(
      logs.of(LogEventKind::kTrainingStep).begin(), logs.of(LogEventKind::kTrainingStep).end(),
      [&](const LogEvent* step) { return step->input == work.input && step->last_line > work.last_line; });
}

}  // namespace

std::vector<Explanation> find_log_host_work(const Analysis& analysis) {
  const LogAnalysis& logs = analysis.logs;
  if (!logs.present() || logs.timeouts.empty()) return {};
  const LogEvent* best = nullptr;
  bool fits_in_time = false;
  for (const LogEvent* work : logs.of_all({LogEventKind::kCheckpoint, LogEventKind::kDataLoading,
                                           LogEventKind::kWeightLoading, LogEventKind::kCompilation})) {
    if (work->code == 1 || went_on_after(logs, *work)) continue;
    // In the file of a time-out it has to come before it.
    const bool before = std::all_of(logs.timeouts.begin(), logs.timeouts.end(), [&](const auto* timeout) {
      return timeout->input != work->input || work->line < timeout->line;
    });
    if (!before) continue;
    bool fits = false;
    if (work->last.known()) {
      if (const auto start = stall_start(logs, work->last.clock)) {
        constexpr std::int64_t kNear = 120'000'000'000;
        fits = std::abs(work->last.ns - *start) <= kNear;
        if (work->last.ns < *start - 30 * kNear) continue;  // an hour before: long done
      }
    }
    if (best == nullptr || fits >= fits_in_time) {
      best = work;
      fits_in_time = fits;
    }
  }
  if (best == nullptr) return {};
  const std::string who = writer_text(logs, best->origin);
  Explanation found =
      log_finding(logs, Category::kCollectiveDesync, "rank_not_entered", Confidence::kLow,
                  (who.empty() ? std::string("a rank") : who) + " " + words_for(best->kind) +
                      " when the others began to wait" + (fits_in_time ? ": the times fit" : ""),
                  {best});
  found.root = "host_blocked";
  for (const model::WatchdogTimeout* timeout : logs.timeouts) {
    if (found.records.size() < 4) found.records.push_back(cite(logs, *timeout));
  }
  if (!who.empty() && best->origin != logs.timeouts.front()->origin)
    found.other_suspects.push_back(writer(logs, best->origin));
  return {std::move(found)};
}

}  // namespace unhang::detect
