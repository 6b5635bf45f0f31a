// SPDX-License-Identifier: Apache-2.0
//
// A rank whose host did something long and silent (a checkpoint, tokenising, data, weights, compilation) when
// the others began to wait: the stall began at the time-out minus its limit, not where the log ends.
#include <algorithm>
#include <cstdlib>
#include <map>
#include <tuple>

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

// What decides whether work was going on when the wait began. Computed once: logs may tell of a great deal.
struct Course {
  explicit Course(const LogAnalysis& logs) : steps(logs, {LogEventKind::kTrainingStep}) {
    for (const model::WatchdogTimeout* timeout : logs.timeouts) {
      const auto [at, first] = gave_up.emplace(timeout->input, timeout->line);
      if (!first) at->second = std::min(at->second, timeout->line);
      const std::int64_t limit = std::max(timeout->timeout_ms, timeout->ran_ms);
      if (!timeout->at.known() || limit < 0) continue;
      const std::int64_t start = timeout->at.ns - limit * 1'000'000;
      const auto [clock, is_new] = stall_start.emplace(timeout->at.clock, start);
      if (!is_new) clock->second = std::min(clock->second, start);
    }
  }
  // A line of the same writer says that it is done.
  void note_end(const LogEvent& work) {
    std::uint64_t& line = finished[{work.kind, work.origin, work.input}];
    line = std::max(line, work.last_line);
  }
  bool went_on(const LogEvent& work) const {
    const auto end = finished.find({work.kind, work.origin, work.input});
    if (end != finished.end() && end->second > work.last_line) return true;
    // Steps after the work show that it ended.
    return steps.behind(work);
  }
  // In the file of a time-out it has to come before it.
  bool before_the_wait_ended(const LogEvent& work) const {
    const auto at = gave_up.find(work.input);
    return at == gave_up.end() || work.line < at->second;
  }

  LastLines steps;
  std::map<std::uint32_t, std::uint64_t> gave_up;       // by input: a line
  std::map<model::LogClock, std::int64_t> stall_start;  // the earliest
  std::map<std::tuple<LogEventKind, std::uint32_t, std::uint32_t>, std::uint64_t> finished;
};

}  // namespace

std::vector<Explanation> find_log_host_work(const Analysis& analysis) {
  const LogAnalysis& logs = analysis.logs;
  if (!logs.present() || logs.timeouts.empty()) return {};
  Course course(logs);
  const EventRefs works = logs.of_all({LogEventKind::kCheckpoint, LogEventKind::kDataLoading,
                                       LogEventKind::kWeightLoading, LogEventKind::kCompilation});
  for (const LogEvent* work : works) {
    if (work->code == 1) course.note_end(*work);
  }
  const LogEvent* best = nullptr;
  bool fits_in_time = false;
  for (const LogEvent* work : works) {
    if (work->code == 1 || course.went_on(*work) || !course.before_the_wait_ended(*work)) continue;
    bool fits = false;
    const auto start = course.stall_start.find(work->last.clock);
    if (work->last.known() && start != course.stall_start.end()) {
      constexpr std::int64_t kNear = 120'000'000'000;
      fits = std::abs(work->last.ns - start->second) <= kNear;
      if (work->last.ns < start->second - 30 * kNear) continue;  // an hour before: long done
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
