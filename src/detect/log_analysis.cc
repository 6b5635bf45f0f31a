// SPDX-License-Identifier: Apache-2.0
#include "detect/log_analysis.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace unhang::detect {
namespace {

using model::CommunicatorPhase;
using model::LogEvent;
using model::LogEventKind;

// Of several runs in one file the last is the one that somebody asks about, unless nothing in it is odd.
class LastRuns {
 public:
  explicit LastRuns(const model::Log& log) {
    for (const LogEvent& event : log.events) {
      if (model::role_of(event.kind) >= model::LogRole::kConsequence) note(event.input, event.run);
    }
    for (const auto& timeout : log.timeouts) note(timeout.input, timeout.run);
  }
  bool is_last(std::uint32_t input, std::uint32_t run) const {
    return input >= x_last.size() || run >= x_last[input];
  }

 private:
  void note(std::uint32_t input, std::uint32_t run) {
    if (input >= x_last.size()) x_last.resize(input + 1);
    x_last[input] = std::max(x_last[input], run);
  }
  std::vector<std::uint32_t> x_last;
};

constexpr LogEventKind kWaits[] = {
    LogEventKind::kWatchdogStuck,        LogEventKind::kBlockingWait,  LogEventKind::kLaggingRanks,
    LogEventKind::kStoreKeyMissing,      LogEventKind::kStoreTimeout,  LogEventKind::kGlooTimeout,
    LogEventKind::kEngineWaitsForWorker, LogEventKind::kEngineTimeout, LogEventKind::kEngineWatchdog,
    LogEventKind::kMonitoredBarrier,     LogEventKind::kGpuIdleSpin,   LogEventKind::kMismatchHint,
    LogEventKind::kInterpreterLock};

// An engine that waits for workers says so every minute; when they have compiled, it is up.
bool somebody_waits(const LogAnalysis& logs) {
  if (!logs.timeouts.empty()) return true;
  const LastLines service(logs, {LogEventKind::kEngineReady, LogEventKind::kRequestProgress});
  for (const LogEventKind kind : kWaits) {
    for (const LogEvent* wait : logs.of(kind)) {
      if (kind != LogEventKind::kEngineWaitsForWorker || !service.behind(*wait)) return true;
    }
  }
  return false;
}

// A connection that the other side closes is what a good end looks like, too.
std::set<std::uint32_t> inputs_that_end_well(const LogAnalysis& logs) {
  std::map<std::uint32_t, std::uint64_t> last_wrong;
  for (const LogEvent& event : logs.joined->logs.events) {
    if (model::role_of(event.kind) < model::LogRole::kConsequence ||
        event.kind == LogEventKind::kStoreClosed || event.kind == LogEventKind::kConnectionClosed)
      continue;
    std::uint64_t& line = last_wrong[event.input];
    line = std::max(line, event.last_line);
  }
  const LastLines good(
      logs, {LogEventKind::kTrainingStep, LogEventKind::kRequestProgress, LogEventKind::kTrainingEnd});
  std::set<std::uint32_t> out;
  for (const auto& [input, line] : good.by_input()) {
    if (line > last_wrong[input]) out.insert(input);
  }
  return out;
}

}  // namespace

LogAnalysis analyse_logs(const model::Case& joined) {
  LogAnalysis out;
  out.joined = &joined;
  const model::Log& log = joined.logs;
  const LastRuns runs(log);
  for (const LogEvent& event : log.events) {
    if (runs.is_last(event.input, event.run))
      out.by_kind[static_cast<std::size_t>(event.kind)].push_back(&event);
  }
  for (auto& refs : out.by_kind) {
    std::stable_sort(refs.begin(), refs.end(), [](const LogEvent* a, const LogEvent* b) {
      return std::tuple(a->input, a->line) < std::tuple(b->input, b->line);
    });
  }
  for (const auto& timeout : log.timeouts) {
    if (runs.is_last(timeout.input, timeout.run)) out.timeouts.push_back(&timeout);
  }
  out.timeout_groups = group_timeouts(out);
  out.life = LastLines(out, {LogEventKind::kTrainingStep, LogEventKind::kRequestProgress});
  out.inputs_that_end_well = inputs_that_end_well(out);
  out.somebody_waited = somebody_waits(out);
  out.communicators = group_communicators(log);
  out.past_init = !out.timeouts.empty();
  for (const auto& communicator : log.communicators) {
    const bool done = communicator.completed || communicator.phase >= CommunicatorPhase::kComplete;
    out.past_init = out.past_init || (done && communicator.phase != CommunicatorPhase::kAborted);
    if (communicator.started && !done) out.init_open = true;
  }
  return out;
}

EventRefs LogAnalysis::of_all(std::initializer_list<LogEventKind> kinds) const {
  EventRefs out;
  for (const LogEventKind kind : kinds) out.insert(out.end(), of(kind).begin(), of(kind).end());
  std::stable_sort(out.begin(), out.end(), [](const LogEvent* a, const LogEvent* b) {
    return std::tuple(a->input, a->line) < std::tuple(b->input, b->line);
  });
  return out;
}

std::string writer_text(const LogAnalysis& logs, std::uint32_t index) {
  const model::LogOrigin& origin = logs.origin(index);
  std::string out;
  if (origin.global_rank >= 0) {
    out = "rank " + std::to_string(origin.global_rank);
  } else if (origin.pid >= 0) {
    out = "process " + std::to_string(origin.pid);
  }
  if (origin.host.empty()) return out.empty() ? origin.label : out;
  return out.empty() ? origin.host : out + " on " + origin.host;
}

model::Subject writer(const LogAnalysis& logs, std::uint32_t index) {
  const model::LogOrigin& origin = logs.origin(index);
  model::Subject subject;
  subject.host = origin.host;
  if (origin.pid >= 0) subject.pid = origin.pid;
  if (origin.global_rank >= 0) {
    subject.kind = model::SubjectKind::kRank;
    subject.rank = origin.global_rank;
  } else {
    subject.kind = origin.pid >= 0 ? model::SubjectKind::kProcess : model::SubjectKind::kHost;
  }
  if (origin.cuda_device >= 0) subject.gpu = std::to_string(origin.cuda_device);
  return subject;
}

model::Subject host_subject(std::string host, std::string why) {
  model::Subject subject;
  subject.kind = model::SubjectKind::kHost;
  subject.host = std::move(host);
  subject.why = std::move(why);
  return subject;
}

model::Subject rank_subject(std::int32_t rank) {
  model::Subject subject;
  subject.kind = model::SubjectKind::kRank;
  subject.rank = rank;
  return subject;
}

model::Subject gpu_subject(const LogAnalysis& logs, std::uint32_t index, std::string gpu) {
  model::Subject subject;
  subject.kind = model::SubjectKind::kGpu;
  subject.host = logs.origin(index).host;
  subject.gpu = std::move(gpu);
  return subject;
}

model::EvidenceItem cite_line(const LogAnalysis& logs, std::uint32_t input, std::uint64_t line,
                              std::string text) {
  model::EvidenceItem item;
  item.file = input < logs.joined->inputs.size() ? logs.joined->inputs[input].path : std::string();
  if (line > 0) item.line = static_cast<std::int64_t>(line);
  item.text = std::move(text);
  return item;
}

model::EvidenceItem cite(const LogAnalysis& logs, const LogEvent& event) {
  std::string text = event.text;
  if (text.empty()) {  // a row of a table has no sentence of its own
    text = name_of(event.kind);
    std::replace(text.begin(), text.end(), '_', ' ');
    if (event.rank >= 0) text += " of rank " + std::to_string(event.rank);
    if (event.code != 0) text += ": " + std::to_string(event.code);
  }
  if (event.count > 1) text += " (x " + std::to_string(event.count) + ")";
  return cite_line(logs, event.input, event.line, std::move(text));
}

model::EvidenceItem cite(const LogAnalysis& logs, const model::WatchdogTimeout& timeout) {
  std::string text = "watchdog";
  if (timeout.group_rank >= 0) text += " of rank " + std::to_string(timeout.group_rank);
  text += " gave up on " + (timeout.operation.empty() ? std::string("work") : timeout.operation);
  if (timeout.sequence >= 0) text += " #" + std::to_string(timeout.sequence);
  if (timeout.elements_in >= 0) text += ", " + std::to_string(timeout.elements_in) + " elements";
  if (timeout.last_enqueued >= 0) text += ", last enqueued " + std::to_string(timeout.last_enqueued);
  if (timeout.last_completed >= 0) text += ", last completed " + std::to_string(timeout.last_completed);
  return cite_line(logs, timeout.input, timeout.line, std::move(text));
}

void cite_all(const LogAnalysis& logs, const EventRefs& events, Explanation& explanation) {
  constexpr std::size_t kAtMost = 8;
  for (std::size_t i = 0; i < events.size() && i < kAtMost; ++i)
    explanation.records.push_back(cite(logs, *events[i]));
}

std::int32_t rank_of(const LogAnalysis& logs, const LogEvent& event) {
  return event.rank >= 0 ? event.rank : logs.origin(event.origin).global_rank;
}

std::string peer_host(const LogEvent& event) {
  return event.peer.substr(0, event.peer.find('<'));
}

std::vector<std::string> hosts_of(const LogAnalysis& logs, const EventRefs& events) {
  std::set<std::string> hosts;
  for (const LogEvent* event : events) {
    if (!logs.origin(event->origin).host.empty()) hosts.insert(logs.origin(event->origin).host);
  }
  return {hosts.begin(), hosts.end()};
}

std::string listed(const std::vector<std::string>& names) {
  constexpr std::size_t kShown = 4;
  std::string out;
  const std::size_t shown = names.size() <= kShown ? names.size() : kShown - 1;
  for (std::size_t i = 0; i < shown; ++i) {
    const bool last = i + 1 == names.size();
    out += (i == 0 ? "" : last ? " and " : ", ") + names[i];
  }
  if (shown < names.size()) out += " and " + std::to_string(names.size() - shown) + " more";
  return out;
}

model::Phase phase_of(const LogAnalysis& logs) {
  if (!logs.timeouts.empty()) return model::Phase::kSteady;
  if (logs.init_open) return model::Phase::kInit;
  return logs.past_init ? model::Phase::kSteady : model::Phase::kUnknown;
}

}  // namespace unhang::detect
