// SPDX-License-Identifier: Apache-2.0
#include "formats/log/orchestrator_messages.h"

#include <string>

#include "formats/log/fields.h"
#include "formats/log/scheduler_messages.h"

namespace unhang::formats::log {
namespace {

using model::LogEventKind;

// A shell's and a container's exit status: 128 and the signal.
std::int64_t without_shell_offset(std::int64_t status) {
  return status > 128 && status < 128 + 65 ? -(status - 128) : status;
}

// "SIGKILL" -> 9; 0 where the name is not in the list.
std::int64_t signal_number(std::string_view name) {
  struct Row {
    std::string_view name;
    std::int64_t number;
  };
  constexpr Row kRows[] = {{"SIGHUP", 1},   {"SIGINT", 2},   {"SIGQUIT", 3},  {"SIGILL", 4},
                           {"SIGTRAP", 5},  {"SIGABRT", 6},  {"SIGBUS", 7},   {"SIGFPE", 8},
                           {"SIGKILL", 9},  {"SIGUSR1", 10}, {"SIGSEGV", 11}, {"SIGUSR2", 12},
                           {"SIGPIPE", 13}, {"SIGALRM", 14}, {"SIGTERM", 15}};
  for (const Row& row : kRows) {
    if (name.starts_with(row.name)) return row.number;
  }
  return 0;
}

// "Worker exit type: SYSTEM_ERROR" and, where printed, what the worker met.
std::string exit_of_worker(std::string_view text) {
  std::string told(up_to(trimmed(behind(text, "Worker exit type:").value_or("")), " ."));
  if (const auto detail = behind(text, "Worker exit detail:")) {
    if (!told.empty()) told += ": ";
    const std::string_view sentence = trimmed(*detail);
    told += sentence.substr(0, sentence.find(". "));
  }
  return told;
}

}  // namespace

bool take_ray(const Line& line, Facts& facts) {
  const std::string_view text = line.message;
  if (has(text, "node running low on memory") || has(text, "exceeds the memory usage threshold of") ||
      has(text, "killed due to memory pressure")) {
    // "5 Workers (tasks / actors) killed due to memory pressure (OOM), 0 Workers crashed due to other
    // reasons"
    if (has(text, " 0 Workers (tasks / actors) killed") || text.starts_with("0 Workers")) return true;
    facts.add(event_of(LogEventKind::kOutOfMemoryKill, -1, -1, "ray"), line);
    return true;
  }
  if (has(text, "has been marked dead because") || has(text, "because its node has died") ||
      has(text, "NodeDiedError")) {
    std::string_view host;
    for (const std::string_view mark : {"address: ", "node ip: ", "ip: "}) {
      const auto rest = behind(text, mark);
      if (!rest || !host.empty()) continue;
      host = up_to(*rest, " ,");
    }
    facts.add(event_of(LogEventKind::kNodeFailed, 0, -1, {}, host), line);
    return true;
  }
  if (has(text, "killed by `ray.kill`") || has(text, "killed by ray.kill")) {
    facts.add(event_of(LogEventKind::kProcessSignalled, 9), line);
    return true;
  }
  const bool actor = has(text, "The actor is dead because") || has(text, "actor died unexpectedly") ||
                     has(text, "ActorDiedError") || has(text, "RayActorError") ||
                     has(text, "ActorUnavailableError") || has(text, "WorkerCrashedError");
  if (!actor && !has(text, "A worker died or was killed") && !has(text, "Worker exit type: SYSTEM_ERROR")) {
    return false;
  }
  facts.add(event_of(LogEventKind::kActorDied, 0, -1, exit_of_worker(text)), line);
  return true;
}

bool take_kubernetes(const Line& line, Facts& facts) {
  const std::string_view text = line.whole.empty() ? line.message : line.whole;
  if (const auto killed = behind(text, "OOMKilled")) {
    const std::string_view value = trimmed(up_to(*killed, ",}"));
    // `docker inspect` prints the field whether or not it happened.
    if (has(value, "false") || has(value, "\":0")) return true;
    facts.add(event_of(LogEventKind::kOutOfMemoryKill, -1, -1, "cgroup"), line);
    return true;
  }
  for (const std::string_view mark : {"Exit Code:", "exitCode:", "exitCode\":"}) {
    const auto code = behind(text, mark);
    const auto number = code ? leading_number(*code) : std::nullopt;
    if (!number) continue;
    if (*number != 0) {
      facts.add(event_of(LogEventKind::kProcessExit, without_shell_offset(*number)), line);
    }
    return true;
  }
  const auto killed = [&](std::string_view detail) {
    facts.add(event_of(LogEventKind::kOrchestratorKill, 0, -1, detail), line);
    return true;
  };
  if (const auto resource = behind(text, "node was low on resource: ")) {
    return killed("evicted: " + std::string(up_to(*resource, ". ")));
  }
  if (has(text, "Evicted") || has(text, "TaintManagerEviction")) return killed("evicted");
  if (has(text, "iveness probe failed") || has(text, "failed liveness probe"))
    return killed("liveness probe failed");
  if (has(text, "tartup probe failed") || has(text, "failed startup probe"))
    return killed("startup probe failed");
  if (has(text, "PreemptionByScheduler") || has(text, "Preempted by ")) return killed("preemption");
  if (has(text, "DeadlineExceeded") && (has(text, "Job") || has(text, "Reason"))) return killed("deadline");
  if (has(text, "NodeNotReady") || has(text, "Node is not ready") ||
      has(text, "status is now: NodeNotReady")) {
    facts.add(event_of(LogEventKind::kNodeFailed, 0, -1, {}, up_to(behind(text, "Node ").value_or(""), " ")),
              line);
    return true;
  }
  return false;
}

bool take_process_end(const Line& line, Facts& facts) {
  const std::string_view text = line.message;
  const auto exited = [&](std::int64_t code, std::int32_t rank = -1) {
    facts.add(event_of(LogEventKind::kProcessExit, code, rank), line);
    return true;
  };
  // systemd
  if (has(text, "killed by the OOM killer") || has(text, "result 'oom-kill'")) {
    facts.add(event_of(LogEventKind::kOutOfMemoryKill, -1, -1, "host"), line);
    return true;
  }
  if (const auto state = behind(text, "Main process exited, code=")) {
    const std::int64_t status = number_after(*state, "status=", 0);
    if (status == 0) return true;
    return exited(state->starts_with("exited") ? without_shell_offset(status) : -status);
  }
  // DeepSpeed, torch.multiprocessing, subprocess
  if (has(text, "Killing subprocess ")) {
    facts.add(event_of(LogEventKind::kProcessSignalled, 15), line);
    return true;
  }
  if (has(text, "exits with return code = ")) return exited(number_after(text, "exits with return code = "));
  if (const auto process = behind(text, "terminated with signal SIG")) {
    const std::size_t at = find_text(text, "process ");
    return exited(-signal_number(std::string("SIG") + std::string(process->substr(0, 8))),
                  at == text.npos ? -1 : rank_after(text.substr(at), "process "));
  }
  if (has(text, "terminated with exit code ")) {
    return exited(number_after(text, "terminated with exit code "), rank_after(text, "process "));
  }
  if (has(text, "terminated with the following error")) return exited(1, rank_after(text, "rocess "));
  if (const auto signal = behind(text, "died with <Signals.")) {
    return exited(-number_after(*signal, ": ", signal_number(*signal)));
  }
  if (has(text, "returned non-zero exit status ")) {
    return exited(without_shell_offset(number_after(text, "returned non-zero exit status ")));
  }
  // A shell's own words stand alone, or behind "./run.sh: line 5: 12345 ".
  std::string_view words = trimmed(text);
  if (const auto numbered = behind(words, ": line ")) {
    const auto number = number_at(*numbered);
    const auto pid =
        number && number->rest.starts_with(':') ? number_at(number->rest.substr(1)) : std::nullopt;
    if (!pid) return false;
    words = trimmed(pid->rest);
    // The command follows behind blanks.
    const std::size_t gap = words.find("  ");
    words = trimmed(words.substr(0, gap));
    if (words.starts_with("Killed")) words = "Killed";
  }
  if (words.starts_with("Segmentation fault") && (words.size() == 18 || words.ends_with("(core dumped)"))) {
    facts.add(event_of(LogEventKind::kFatalSignal, 11), line);
    return true;
  }
  if (words.starts_with("Bus error") && (words.size() == 9 || words.ends_with("(core dumped)"))) {
    facts.add(event_of(LogEventKind::kFatalSignal, 7, -1, "bus error: often /dev/shm is full"), line);
    return true;
  }
  const auto code = exit_of_signal_text(words);
  // "Terminated" and "Interrupt" alone are words of many programs.
  if (!code || *code == -15 || *code == -2 || *code == -3 || *code == -1) return false;
  return exited(*code);
}

}  // namespace unhang::formats::log
