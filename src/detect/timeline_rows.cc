// SPDX-License-Identifier: Apache-2.0
#include "detect/timeline_rows.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/time_text.h"
#include "detect/wording.h"

namespace unhang::detect {
namespace {

using model::LogEvent;
using model::LogEventKind;
using model::LogRole;

constexpr std::size_t kCallsAtMost = 12;  // of those that the explanation cites

// Somebody noticed that it stands.
bool complains(LogEventKind kind) {
  switch (kind) {
    case LogEventKind::kWatchdogStuck:
    case LogEventKind::kBlockingWait:
    case LogEventKind::kLaggingRanks:
    case LogEventKind::kStoreTimeout:
    case LogEventKind::kGlooTimeout:
    case LogEventKind::kMonitoredBarrier:
    case LogEventKind::kEngineWaitsForWorker:
    case LogEventKind::kEngineTimeout:
    case LogEventKind::kEngineWatchdog:
    case LogEventKind::kEngineDead:
    case LogEventKind::kNcclError:
    case LogEventKind::kPeerError:
      return true;
    default:
      return false;
  }
}

bool ends(LogEventKind kind) {
  return kind == LogEventKind::kProcessExit || kind == LogEventKind::kProcessSignalled ||
         kind == LogEventKind::kOrchestratorKill || kind == LogEventKind::kFatalSignal;
}

TimelinePart part_of(LogEventKind kind) {
  if (complains(kind)) return TimelinePart::kComplaint;
  if (ends(kind)) return TimelinePart::kEnd;
  if (kind == LogEventKind::kDumpSignal) return TimelinePart::kDump;
  return model::role_of(kind) >= LogRole::kEither ? TimelinePart::kAnomaly : TimelinePart::kOther;
}

std::string clock_text(std::string_view whose, const Moment& at) {
  std::string out(whose);
  if (!at.has_zone) out += " without zone, read as UTC";
  constexpr std::int64_t kMillisecond = 1'000'000;
  const std::int64_t taken_off_ms = at.taken_off_ns / kMillisecond;
  if (taken_off_ms != 0)
    out += ", " + std::to_string(std::abs(taken_off_ms)) + (taken_off_ms > 0 ? " ms taken off" : " ms added");
  return out;
}

class Collector {
 public:
  Collector(const Analysis& analysis, const HostTimes& times, const Explanation* chosen)
      : x_analysis(analysis), x_case(analysis.joined), x_times(times) {
    if (chosen == nullptr) return;
    for (const model::EvidenceItem& item : chosen->records) {
      if (item.line) x_cited.emplace(item.file, *item.line);
    }
  }

  void add_call(const OperationRef& ref, std::string_view what, TimelinePart part) {
    if (!x_calls.emplace(ref.rank, ref.operation).second) return;
    const model::Rank& rank = x_case.ranks[ref.rank];
    const auto at = x_times.of(rank.host, rank.operations[ref.operation].created_ns);
    if (!at) return;
    TimelineRow& row = add(*at, part, 0, "host", rank.host);
    row.is_call = true;
    row.operation = ref;
    row.event = "rank " + std::to_string(rank.global_rank) + std::string(what) +
                operation_text(x_case, rank.operations[ref.operation]);
  }

  void add_stall(const StallStart& stall) {
    TimelineRow& row = add(stall.at, TimelinePart::kStall, 0, stall.stands ? "host" : "log", stall.at.host);
    row.is_call = true;
    row.event = "it stands from here: " + stall.basis;
    row.operation = stall.stands;
  }

  // Lines of one kind are one row; causes one for each place.
  void add_events() {
    const LogAnalysis& logs = x_analysis.logs;
    if (!logs.present()) return;
    for (const EventRefs& events : logs.by_kind) {
      for (const LogEvent* event : events) add_event(logs, *event);
    }
    for (auto& [key, group] : x_groups) {
      const std::string& host = logs.origin(group.first->origin).host;
      const bool cited = is_cited(*group.first);
      const LogRole role = model::role_of(group.first->kind);
      const std::uint8_t weight = cited ? 0 : role == LogRole::kCause ? 1 : role == LogRole::kEither ? 2 : 3;
      TimelineRow& row = add(*group.at, part_of(group.first->kind), weight, "log", host);
      row.event = group.first->text;
      if (row.event.empty()) {
        row.event = model::name_of(group.first->kind);
        std::replace(row.event.begin(), row.event.end(), '_', ' ');
      }
      if (group.count > 1) row.event += " (x " + std::to_string(group.count) + ")";
      row.record = cite(logs, *group.first);
    }
  }

  void add_timeouts() {
    const LogAnalysis& logs = x_analysis.logs;
    if (!logs.present()) return;
    for (const TimeoutGroup& group : logs.timeout_groups) {
      const model::WatchdogTimeout* first = nullptr;
      std::optional<Moment> first_at;
      std::size_t timed = 0;
      for (const model::WatchdogTimeout* timeout : group.members) {
        const auto at = x_times.of(logs.origin(timeout->origin).host, timeout->at);
        if (!at) continue;
        ++timed;
        note_last(*at);
        if (first_at && std::pair(!first_at->has_zone, first_at->ns) <= std::pair(!at->has_zone, at->ns))
          continue;
        first = timeout;
        first_at = at;
      }
      if (first == nullptr) {
        x_out.without_time += group.members.size();
        continue;
      }
      TimelineRow& row = add(*first_at, TimelinePart::kComplaint, 0, "log", logs.origin(first->origin).host);
      row.event = rank_of_timeout(logs, group, *first) + " gives up on " +
                  (first->operation.empty() ? std::string("work") : first->operation) +
                  (first->sequence >= 0 ? " #" + std::to_string(first->sequence) : std::string());
      if (timed > 1) row.event += ", the first of " + std::to_string(timed) + " time-outs";
      row.record = cite(logs, *first);
    }
  }

  void add_ras() {
    const auto& views = x_case.ras.views;
    for (std::size_t i = 0; i < views.size(); ++i) {
      if (i != 0 && i + 1 != views.size()) continue;
      const model::RasView& view = views[i];
      if (!view.time_ns) continue;
      auto at = x_times.of({}, *view.time_ns);
      if (!at) continue;
      at->has_zone = !view.is_local_time;
      TimelineRow& row = add(*at, TimelinePart::kOther, 1, "RAS", {});
      row.event = views.size() == 1 ? "RAS answers" : i == 0 ? "first answer of RAS" : "last answer of RAS";
      if (!view.lost_processes.empty())
        row.event += ": " + std::to_string(view.lost_processes.size()) +
                     plural(view.lost_processes.size(), " process does", " processes do") + " not answer";
      if (!view.sources.empty()) row.record = cite_line(view.sources.front());
    }
    constexpr std::size_t kEventsAtMost = 8;
    std::size_t shown = 0;
    for (const auto& [input, event] : x_case.ras.events) {
      if (!event.lifecycle || event.timestamp.size() < 19 || shown == kEventsAtMost) continue;
      std::string time = event.timestamp.substr(0, 19) + "Z";
      time[10] = 'T';
      const auto ns = base::parse_utc(time);
      auto at = ns ? x_times.of(event.host, *ns) : std::nullopt;
      if (!at) continue;
      at->has_zone = false;
      ++shown;
      TimelineRow& row = add(*at, TimelinePart::kAnomaly, 1, "RAS", event.host);
      row.event = "RAS: " + event.event + (event.pid >= 0 ? " of pid " + std::to_string(event.pid) : "");
      row.record = cite_line(input, event.line);
    }
  }

  void add_captures() {
    std::size_t shown = 0;
    constexpr std::size_t kCapturesAtMost = 8;
    for (const model::BundleManifest& bundle : x_case.bundles) {
      const auto at = x_times.of(bundle.host, bundle.started_ns);
      if (!at || shown++ == kCapturesAtMost) continue;
      TimelineRow& row = add(*at, TimelinePart::kDump, 1, "capture", bundle.host);
      row.event = "a capture begins";
    }
  }

  TimelineRows take() { return std::move(x_out); }

 private:
  // kind, host, code, subject: of others than causes without the subject, of what nobody cites the kind
  // alone.
  using Key = std::tuple<LogEventKind, std::string, std::int64_t, std::string>;
  struct Group {
    const LogEvent* first = nullptr;
    std::optional<Moment> at;
    std::uint64_t count = 0;
  };

  TimelineRow& add(const Moment& at, TimelinePart part, std::uint8_t weight, std::string_view clock,
                   std::string_view host) {
    TimelineRow& row = x_out.rows.emplace_back();
    row.at = at;
    row.part = part;
    row.weight = weight;
    row.clock = clock_text(clock, at);
    row.host = host;
    return row;
  }

  model::EvidenceItem cite_line(model::InputIndex input, std::uint64_t line = 0) const {
    model::EvidenceItem item;
    if (input < x_case.inputs.size()) item.file = x_case.inputs[input].path;
    if (line > 0) item.line = static_cast<std::int64_t>(line);
    return item;
  }

  bool is_cited(const LogEvent& event) const {
    return event.input < x_case.inputs.size() &&
           x_cited.count({x_case.inputs[event.input].path, static_cast<std::int64_t>(event.line)}) != 0;
  }

  void note_last(const Moment& at) {
    if (!x_out.last || at.ns > x_out.last->ns) x_out.last = at;
  }

  void add_event(const LogAnalysis& logs, const LogEvent& event) {
    const std::string& host = logs.origin(event.origin).host;
    const auto at = x_times.of(host, event.first);
    const auto until = x_times.of(host, event.last);
    if (until) note_last(*until);
    if (until && ends(event.kind) && (!x_out.last_end || until->ns > x_out.last_end->ns))
      x_out.last_end = until;
    if (event.kind == LogEventKind::kTrainingStep ||
        (event.kind == LogEventKind::kRequestProgress && event.code == 1)) {
      if (until && (!x_out.last_step || until->ns > x_out.last_step->ns)) x_out.last_step = until;
      return;
    }
    const LogRole role = model::role_of(event.kind);
    if (role < LogRole::kConsequence && event.kind != LogEventKind::kLinkUp) return;
    if (!at) {
      ++x_out.without_time;
      return;
    }
    Key key(event.kind, std::string(), 0, std::string());
    if (role == LogRole::kCause) {
      key = Key(event.kind, host, event.code, event.subject);
    } else if (is_cited(event)) {
      key = Key(event.kind, host, event.code, std::string());
    }
    Group& group = x_groups[key];
    group.count += event.count;
    if (group.first == nullptr || at->ns < group.at->ns) {
      group.first = &event;
      group.at = at;
    }
  }

  const Analysis& x_analysis;
  const model::Case& x_case;
  const HostTimes& x_times;
  TimelineRows x_out;
  std::map<Key, Group> x_groups;
  std::set<std::pair<model::RankIndex, std::uint32_t>> x_calls;
  std::set<std::pair<std::string, std::int64_t>> x_cited;
};

}  // namespace

TimelineRows timeline_rows(const Analysis& analysis, const HostTimes& times,
                           const std::optional<StallStart>& stall, const Explanation* chosen) {
  Collector collector(analysis, times, chosen);
  if (stall) collector.add_stall(*stall);
  if (chosen != nullptr) {
    for (std::size_t i = 0; i < chosen->evidence.size() && i < kCallsAtMost; ++i)
      collector.add_call(chosen->evidence[i], " calls ", TimelinePart::kOther);
  }
  collector.add_timeouts();
  collector.add_events();
  collector.add_ras();
  collector.add_captures();
  return collector.take();
}

}  // namespace unhang::detect
