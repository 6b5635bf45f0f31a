// SPDX-License-Identifier: Apache-2.0
//
// A process or a node that ended, or was ended, while others waited for it: the out-of-memory killer, a
// signal that a launcher reports, an eviction, a lost node. SIGABRT and SIGTERM are what watchdogs and
// launchers do to victims, and never a cause here while anything else explains them.
#include <algorithm>
#include <set>

#include "detect/detector.h"
#include "detect/log_finding.h"

namespace unhang::detect {
namespace {

using model::Category;
using model::Confidence;
using model::LogEvent;
using model::LogEventKind;

constexpr Category kGone = Category::kProcessOrDeviceUnavailable;

std::int64_t signal_of(const LogEvent& event) {
  if (event.code < 0) return -event.code;
  return event.code > 128 && event.code < 160 ? event.code - 128 : 0;
}

bool came_before_the_wait(const LogAnalysis& logs, const LogEvent& event) {
  return std::all_of(logs.timeouts.begin(), logs.timeouts.end(), [&](const model::WatchdogTimeout* timeout) {
    if (timeout->input != event.input) return true;
    return event.line < timeout->line || event.kind == LogEventKind::kProcessExit;
  });
}

model::Subject whom(const LogAnalysis& logs, const LogEvent& event) {
  if (event.rank >= 0) {
    model::Subject subject = rank_subject(event.rank);
    subject.host = !event.subject.empty() ? event.subject : logs.origin(event.origin).host;
    return subject;
  }
  return writer(logs, event.origin);
}

// Exits with `signal`; those that the launcher calls the first failure where it does.
EventRefs ended_by(const LogAnalysis& logs, std::initializer_list<std::int64_t> signals) {
  EventRefs all;
  EventRefs roots;
  for (const LogEvent* exit : logs.of(LogEventKind::kProcessExit)) {
    if (std::find(signals.begin(), signals.end(), signal_of(*exit)) == signals.end()) continue;
    all.push_back(exit);
    if (exit->detail == "root") roots.push_back(exit);
  }
  return roots.empty() ? all : roots;
}

// A victim that may be a rank: nothing is known of it, its name is that of a program of such jobs, or its pid
// stands elsewhere in the logs. The kernel cuts names at 15 characters.
bool may_be_a_rank(const LogAnalysis& logs, const LogEvent& kill) {
  if (kill.subject.empty() || kill.detail == "ray") return true;
  for (const std::string_view word :
       {"python", "pt_main", "pt_", "ray::", "vllm", "VLLM", "sglang", "torch", "train", "mpi", "orted",
        "trt", "tritons", "all_reduce", "_perf", "jax", "deepspeed"}) {
    if (kill.subject.find(word) != std::string::npos) return true;
  }
  const auto& origins = logs.joined->logs.origins;
  return kill.code > 0 && std::any_of(origins.begin(), origins.end(), [&](const model::LogOrigin& origin) {
           return origin.pid == kill.code;
         });
}

// Something that broke before the kill is not explained by it.
bool came_after_a_failure(const LogAnalysis& logs, const LogEvent& kill) {
  for (const LogEvent* failure :
       logs.of_all({LogEventKind::kCompletionError, LogEventKind::kQueuePairFailed, LogEventKind::kLinkDown,
                    LogEventKind::kGpuLost, LogEventKind::kXid})) {
    if (failure->first.known() && failure->first.clock == kill.first.clock &&
        failure->first.ns < kill.first.ns)
      return true;
  }
  return false;
}

// A pid that is none of the ranks, where those of its host are known: a loader, a neighbour.
bool is_no_rank(const LogAnalysis& logs, const RankNames& names, const LogEvent& kill) {
  const std::string& host = logs.origin(kill.origin).host;
  return kill.code > 0 && names.knows_processes_of(host) && names.of_process(host, kill.code).empty();
}

// Whom the kernel killed, by its host and pid: which rank that is, resolve.cc finds.
void name_victims(const LogAnalysis& logs, const RankNames& names, const EventRefs& kills, Explanation& out) {
  constexpr std::size_t kAtMost = 8;
  for (const LogEvent* kill : kills) {
    if (kill->code <= 0 || out.other_culprits.size() >= kAtMost) continue;
    model::Subject victim;
    victim.kind = model::SubjectKind::kProcess;
    victim.host = logs.origin(kill->origin).host;
    victim.pid = kill->code;
    victim.why = "was killed for lack of host memory";
    if (victim.host.empty() && names.of(victim).empty()) continue;  // a number on nobody's machine
    const auto same = [&](const model::Subject& known) {
      return known.host == victim.host && known.pid == victim.pid;
    };
    if (std::none_of(out.other_culprits.begin(), out.other_culprits.end(), same))
      out.other_culprits.push_back(std::move(victim));
  }
}

// Of several kills the one that a launcher's only SIGKILL tells of: an older one may stand first.
const LogEvent& kill_of_exit(const Analysis& analysis, const EventRefs& kills) {
  EventRefs exits = ended_by(analysis.logs, {9});
  std::erase_if(exits, [](const LogEvent* exit) { return exit->rank < 0; });
  if (exits.size() != 1) return *kills.front();
  for (const LogEvent* kill : kills) {
    const auto ranks = analysis.names.of_process(analysis.logs.origin(kill->origin).host, kill->code);
    if (std::find(ranks.begin(), ranks.end(), exits.front()->rank) != ranks.end()) return *kill;
  }
  return *kills.front();
}

void add_out_of_memory(const Analysis& analysis, std::vector<Explanation>& out) {
  const LogAnalysis& logs = analysis.logs;
  EventRefs kills;
  EventRefs of_others;
  for (const LogEvent* kill : logs.of(LogEventKind::kOutOfMemoryKill))
    (is_no_rank(logs, analysis.names, *kill) ? of_others : kills).push_back(kill);
  const bool of_ranks = !kills.empty();
  if (!of_ranks) kills = of_others;
  if (kills.empty()) return;
  const bool likely = of_ranks && std::any_of(kills.begin(), kills.end(), [&](const LogEvent* kill) {
                        return may_be_a_rank(logs, *kill) && !came_after_a_failure(logs, *kill);
                      });
  const LogEvent& first = kill_of_exit(analysis, kills);
  const std::string& host = logs.origin(first.origin).host;
  std::string who = first.subject.empty() ? std::string("a process") : first.subject;
  if (first.code > 0) who += " (pid " + std::to_string(first.code) + ")";
  Explanation found = log_finding(
      logs, kGone, "oom_killed", likely ? Confidence::kMedium : Confidence::kLow,
      who + (host.empty() ? "" : " on " + host) + " was killed for lack of host memory" +
          (first.detail == "cgroup" ? " (the limit of its container)" : "") + ": the other ranks wait for it",
      kills);
  found.tentative = !likely;
  EventRefs exits = ended_by(logs, {9});
  for (const LogEvent* exit : exits) found.records.push_back(cite(logs, *exit));
  std::erase_if(exits, [](const LogEvent* exit) { return exit->rank < 0; });
  // What the launcher says of ranks is better than what the kernel says of processes.
  if (exits.size() == 1) {
    found.other_culprits.push_back(whom(logs, *exits.front()));
  } else if (likely) {
    name_victims(logs, analysis.names, kills, found);
  }
  out.push_back(std::move(found));
}

void add_killed(const LogAnalysis& logs, std::vector<Explanation>& out) {
  const EventRefs kills = logs.of_all({LogEventKind::kOrchestratorKill});
  if (!kills.empty()) {
    Explanation found =
        log_finding(logs, kGone, "killed_by_orchestrator", Confidence::kMedium,
                    "the orchestrator ended a part of the job: " + kills.front()->text, kills);
    out.push_back(std::move(found));
  }
  const EventRefs& nodes = logs.of(LogEventKind::kNodeFailed);
  if (!nodes.empty()) {
    const std::string host = nodes.front()->subject;
    Explanation found =
        log_finding(logs, kGone, "node_unreachable", Confidence::kMedium,
                    (host.empty() ? "a node" : "node " + host) + " was lost: its ranks are gone", nodes);
    if (!host.empty()) found.other_culprits.push_back(host_subject(host, nodes.front()->text));
    out.push_back(std::move(found));
  }
}

void add_signalled(const LogAnalysis& logs, std::vector<Explanation>& out) {
  const EventRefs killed = ended_by(logs, {9});
  if (!killed.empty()) {
    const bool root = killed.front()->detail == "root";
    const std::string who = whom(logs, *killed.front()).rank
                                ? "rank " + std::to_string(*whom(logs, *killed.front()).rank)
                                : std::string("a process");
    // A launcher kills what does not end in time after the first failure: -9 beside a time-out may be that.
    const bool clean = logs.timeouts.empty();
    Explanation found = log_finding(
        logs, kGone, "process_exited", root && clean ? Confidence::kMedium : Confidence::kLow,
        who + " was killed with SIGKILL, most often by the out-of-memory killer of its host or container",
        killed);
    found.alternatives.push_back(
        {.category = kGone,
         .cause = "oom_killed",
         .speaks_for = {"SIGKILL without a word is what the kernel's killer looks like"},
         .speaks_against = {"no kernel or container log is among the inputs"},
         .decide_by = "dmesg -T | grep -i 'killed process' on its host; "
                      "kubectl describe pod | grep -A3 'Last State'"});
    if (killed.size() == 1 && killed.front()->rank >= 0)
      (clean || root ? found.other_culprits : found.other_suspects).push_back(whom(logs, *killed.front()));
    out.push_back(std::move(found));
  }
  const EventRefs crashed = ended_by(logs, {11, 7, 4, 8});
  if (!crashed.empty()) {
    Explanation found =
        log_finding(logs, kGone, "process_exited",
                    crashed.front()->detail == "root" ? Confidence::kMedium : Confidence::kLow,
                    "a process crashed with signal " + std::to_string(signal_of(*crashed.front())) +
                        ": the other ranks wait for it",
                    crashed);
    if (crashed.size() == 1 && crashed.front()->rank >= 0)
      found.other_culprits.push_back(whom(logs, *crashed.front()));
    out.push_back(std::move(found));
  }
  EventRefs signals;
  for (const LogEvent* event : logs.of(LogEventKind::kFatalSignal)) {
    if (event->code != 6 && event->code != 15 && event->code != 2 && event->code != 0)
      signals.push_back(event);
  }
  if (!signals.empty() && crashed.empty()) {
    out.push_back(log_finding(logs, kGone, "process_exited", Confidence::kLow,
                              "a process crashed: " + signals.front()->text, signals));
  }
  EventRefs data;
  for (const LogEvent* event : logs.of(LogEventKind::kDataWorkerKilled)) data.push_back(event);
  if (!data.empty()) {
    Explanation found = log_finding(
        logs, kGone, "process_exited", Confidence::kLow,
        "a data loading process of a rank was killed: that rank cannot go on, and the others wait for it",
        data);
    found.root = "host_blocked";
    out.push_back(std::move(found));
  }
}

// A terminal that was closed, a session that ended: SIGHUP goes to the launcher itself.
void add_hang_up(const LogAnalysis& logs, std::vector<Explanation>& out) {
  EventRefs events;
  for (const LogEvent* event : logs.of(LogEventKind::kProcessSignalled)) {
    if (event->code == 1) events.push_back(event);
  }
  if (events.empty()) return;
  Explanation found =
      log_finding(logs, kGone, "killed_by_orchestrator", Confidence::kLow,
                  "the launcher got SIGHUP: its terminal or session was closed, and it ended the ranks "
                  "(nohup, tmux or setsid keep it)",
                  events);
  found.tentative = true;
  out.push_back(std::move(found));
}

void add_actor(const LogAnalysis& logs, std::vector<Explanation>& out) {
  EventRefs died;
  for (const LogEvent* event : logs.of(LogEventKind::kActorDied)) {
    if (came_before_the_wait(logs, *event)) died.push_back(event);
  }
  if (died.empty()) return;
  Explanation found =
      log_finding(logs, kGone, "process_exited", Confidence::kLow,
                  "a worker process died; its message lists possible reasons and proves none", died);
  found.alternatives.push_back(
      {.category = kGone,
       .cause = "oom_killed",
       .speaks_for = {"the most frequent reason"},
       .speaks_against = {},
       .decide_by = "dmesg -T | grep -i 'killed process' on its host; ray logs raylet.out"});
  out.push_back(std::move(found));
}

}  // namespace

std::vector<Explanation> find_log_process_end(const Analysis& analysis) {
  std::vector<Explanation> out;
  if (!analysis.logs.present()) return out;
  add_out_of_memory(analysis, out);
  add_killed(analysis.logs, out);
  add_signalled(analysis.logs, out);
  add_hang_up(analysis.logs, out);
  return out;
}

// Weaker: it comes after every explanation that names a reason.
std::vector<Explanation> find_log_worker_died(const Analysis& analysis) {
  std::vector<Explanation> out;
  if (analysis.logs.present()) add_actor(analysis.logs, out);
  return out;
}

}  // namespace unhang::detect
