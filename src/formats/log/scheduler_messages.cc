// SPDX-License-Identifier: Apache-2.0
#include "formats/log/scheduler_messages.h"

#include <vector>

#include "base/rank_set.h"
#include "formats/log/fields.h"

namespace unhang::formats::log {
namespace {

using model::LogEventKind;

constexpr std::size_t kTasks = 4096;  // of one line of srun
constexpr int kNoticeLines = 10;

struct SignalText {
  std::string_view text;
  std::int64_t signal;
};
constexpr SignalText kSignals[] = {
    {"Killed", 9},
    {"Aborted", 6},
    {"Segmentation fault", 11},
    {"Bus error", 7},
    {"Terminated", 15},
    {"Interrupt", 2},
    {"Floating point exception", 8},
    {"Illegal instruction", 4},
    {"Trace/breakpoint trap", 5},
    {"Hangup", 1},
    {"Quit", 3},
};

// "srun: error: node1: tasks 0-3,5: Killed"
bool take_srun(std::string_view text, const Line& line, Facts& facts) {
  if (const auto node = behind(text, "Node failure on ")) {
    facts.add(event_of(LogEventKind::kNodeFailed, 0, -1, {}, up_to(*node, " ,")), line);
    return true;
  }
  const std::size_t at = find_text(text, ": task");
  if (at == text.npos) return false;
  const std::string_view host = trimmed(text.substr(0, at));
  std::string_view rest = text.substr(at + 6);
  if (rest.starts_with('s')) rest.remove_prefix(1);
  const std::size_t colon = rest.find(':');
  if (colon == rest.npos) return false;
  const auto tasks = base::parse_ranks(trimmed(rest.substr(0, colon)), kTasks);
  const std::string_view what = trimmed(rest.substr(colon + 1));
  std::optional<std::int64_t> code;
  if (what.starts_with("Exited with exit code")) code = leading_number(what.substr(21));
  const bool memory = what.starts_with("Out Of Memory");
  if (memory) {
    code = -9;
    facts.add(event_of(LogEventKind::kOutOfMemoryKill, -1, -1, "cgroup"), line);
  }
  if (!code) code = exit_of_signal_text(what);
  if (!code) return false;
  if (!tasks || tasks->empty()) {
    facts.add(event_of(LogEventKind::kProcessExit, *code, -1, {}, host), line);
    return true;
  }
  for (const std::int32_t task : *tasks) {
    facts.add(event_of(LogEventKind::kProcessExit, *code, task, {}, host), line);
  }
  return true;
}

// "*** JOB 12 ON node1 CANCELLED AT 2026-01-02T03:04:05 DUE TO TIME LIMIT ***"
bool take_cancelled(std::string_view text, const Line& line, Facts& facts) {
  const auto rest = behind(text, " CANCELLED AT ");
  if (!rest) return false;
  const std::string_view reason = trimmed(up_to(behind(*rest, "DUE TO ").value_or(""), "*,"));
  if (reason.starts_with("NODE FAILURE")) {
    facts.add(event_of(LogEventKind::kNodeFailed), line);
  } else if (reason.empty() && has(text, "*** STEP ")) {
    // A step is also cancelled because one of its tasks failed.
    facts.add(event_of(LogEventKind::kProcessSignalled, 15), line);
  } else {
    std::string detail = reason.empty() ? "cancelled by a person or a program" : std::string(reason);
    for (char& c : detail) {
      if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    }
    facts.add(event_of(LogEventKind::kOrchestratorKill, 0, -1, detail), line);
  }
  return true;
}

std::string_view in_parentheses_removed(std::string_view text) {
  return trimmed(up_to(text, "("));
}

}  // namespace

std::optional<std::int64_t> exit_of_signal_text(std::string_view text) {
  text = in_parentheses_removed(text);
  for (const SignalText& signal : kSignals) {
    if (text == signal.text) return -signal.signal;
  }
  return std::nullopt;
}

bool take_slurm(const Line& line, Facts& facts) {
  const std::string_view text = line.whole.empty() ? line.message : line.whole;
  if (const auto error = behind(text, "srun: error: ")) return take_srun(*error, line, facts);
  if (has(text, "slurmstepd") && (has(text, "oom-kill event") || has(text, "oom_kill event"))) {
    facts.add(event_of(LogEventKind::kOutOfMemoryKill, -1, -1, "cgroup"), line);
    return true;
  }
  return (has(text, "slurmstepd") || has(text, "*** JOB ") || has(text, "*** STEP ")) &&
         take_cancelled(text, line, facts);
}

bool MpiMessages::take(const Line& line, Facts& facts) {
  const std::string_view text = line.message;
  if (x_lines_left > 0 && take_following(trimmed(text), facts)) return true;
  // "mpirun noticed that process rank 3 with PID 0 on node x exited on signal 9 (Killed)."
  if (const auto process = behind(text, "noticed that process rank ")) {
    const std::int32_t rank = rank_after(*process, "");
    const std::string_view host = up_to(behind(*process, " on node ").value_or(""), " ");
    if (const std::int64_t signal = number_after(*process, "exited on signal "); signal > 0) {
      facts.add(event_of(LogEventKind::kProcessExit, -signal, rank, {}, host), line);
    } else if (const std::int64_t status = number_after(*process, "status "); status >= 0) {
      facts.add(event_of(LogEventKind::kProcessExit, status, rank, {}, host), line);
    } else {
      return false;
    }
    return true;
  }
  if (const auto abort = behind(text, "MPI_ABORT was invoked on rank ")) {
    facts.add(
        event_of(LogEventKind::kProcessExit, number_after(*abort, "errorcode ", 1), rank_after(*abort, "")),
        line);
    return true;
  }
  Notice notice = Notice::kNone;
  if (has(text, "Process name: [")) notice = Notice::kExit;
  if (has(text, "BAD TERMINATION OF ONE")) notice = Notice::kBadTermination;
  if (has(text, "lost communication with a remote daemon")) notice = Notice::kLostDaemon;
  if (notice == Notice::kNone) return false;
  close(facts);
  x_notice = notice;
  x_lines_left = kNoticeLines;
  x_rank = -1;
  x_host.clear();
  x_line = line;
  x_line.whole = x_line.message = x_line.source_file = {};
  if (notice == Notice::kExit) {  // "[[12345,1],3]", "[prterun-host-1@1,3]"
    const std::string_view name = up_to(trimmed(behind(text, "Process name:").value_or("")), " \t");
    const std::size_t comma = name.rfind(',');
    if (comma != name.npos) x_rank = rank_after(name.substr(comma + 1), "");
  }
  return true;
}

bool MpiMessages::take_following(std::string_view text, Facts& facts) {
  --x_lines_left;
  const auto ended = [&](std::int64_t code) {
    facts.add(event_of(LogEventKind::kProcessExit, code, x_rank, {}, x_host), x_line);
    x_notice = Notice::kNone;
    x_lines_left = 0;
    return true;
  };
  switch (x_notice) {
    case Notice::kExit:
      if (text.starts_with("Exit code:")) return ended(number_after(text, "Exit code:", 1));
      break;
    case Notice::kBadTermination:
      if (const auto host = behind(text, "RUNNING AT ")) {
        x_host = shown(up_to(*host, " \t="));
        return true;
      }
      if (has(text, "RANK ")) x_rank = rank_after(text, "RANK ");
      if (const std::int64_t signal = number_after(text, "KILLED BY SIGNAL: "); signal > 0)
        return ended(-signal);
      if (const std::int64_t code = number_after(text, "EXIT CODE: "); code >= 0) {
        return ended(code);
      }
      break;
    case Notice::kLostDaemon:
      if (!has(text, "emote daemon")) break;
      if (const auto node = behind(text, "on node ")) {
        x_host = shown(up_to(*node, " \t"));
        close(facts);
        return true;
      }
      break;
    case Notice::kNone:
      break;
  }
  if (x_lines_left == 0) close(facts);
  return false;
}

void MpiMessages::close(Facts& facts) {
  if (x_notice == Notice::kLostDaemon)
    facts.add(event_of(LogEventKind::kNodeFailed, 0, -1, {}, x_host), x_line);
  x_notice = Notice::kNone;
  x_lines_left = 0;
}

void MpiMessages::finish(Facts& facts) {
  close(facts);
}

}  // namespace unhang::formats::log
