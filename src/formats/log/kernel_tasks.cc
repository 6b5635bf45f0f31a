// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <utility>

#include "formats/log/kernel_messages.h"
#include "formats/log/sentence.h"

namespace unhang::formats::log {
namespace {

using model::LogEvent;
using model::LogEventKind;

constexpr std::size_t kMachines = 4096;

struct Victim {
  std::string_view name;
  std::int64_t pid = -1;
};

// "15617 (python3) total-vm:…"
std::optional<Victim> victim_in(std::string_view text) {
  Victim victim;
  const auto pid = leading_number(text);
  if (!pid || *pid < 0) return std::nullopt;
  const auto name = behind(text, "(");
  if (!name) return std::nullopt;
  // Names hold brackets, too: "(sd-pam)". The first that closes before what follows ends it.
  victim.pid = *pid;
  victim.name = before(*name, ")");
  if (victim.name.starts_with('(')) victim.name = victim.name.substr(1);
  return victim;
}

// Without the number behind the last ':' of "python:12345".
std::string_view task_name(std::string_view task) {
  const std::size_t colon = task.rfind(':');
  return colon != std::string_view::npos && all_digits(task.substr(colon + 1)) ? task.substr(0, colon) : task;
}

}  // namespace

bool MemoryAndTaskMessages::take(const Line& line, Facts& facts) {
  return take_kill(line, facts) || take_task(line, facts);
}

void MemoryAndTaskMessages::killed(std::string_view process, std::int64_t pid, std::string_view where,
                                   const Line& line, Facts& facts) {
  const auto invoked = x_invoked.find(line.origin);
  const bool cgroup = invoked != x_invoked.end() && invoked->second.cgroup;
  if (invoked != x_invoked.end()) x_invoked.erase(invoked);
  // Up to four lines tell of one kill: the constraint, the intention, the kill, the reaper.
  const auto last = x_last_victim.find(line.origin);
  if (pid >= 0 && last != x_last_victim.end() && last->second == pid) return;
  if (x_last_victim.size() < kMachines || last != x_last_victim.end()) x_last_victim[line.origin] = pid;
  LogEvent event;
  event.kind = LogEventKind::kOutOfMemoryKill;
  event.subject = shown(process);
  event.code = pid;
  event.detail = !where.empty() ? std::string(where) : cgroup ? "cgroup" : "";
  facts.add(std::move(event), line);
}

bool MemoryAndTaskMessages::take_kill(const Line& line, Facts& facts) {
  const std::string_view text = line.message;
  if (has(text, " invoked oom-killer")) {
    flush(line.origin, facts);
    if (x_invoked.size() >= kMachines) return true;
    Invocation invoked{line, shown(trimmed(before(text, " invoked oom-killer"))), shown(text), false};
    if (const auto colon = invoked.process.rfind(": "); colon != std::string::npos) {
      invoked.process.erase(0, colon + 2);
    }
    invoked.line.whole = invoked.line.message = invoked.line.source_file = {};
    x_invoked[line.origin] = std::move(invoked);
    return true;
  }
  if (has(text, "mem_cgroup_out_of_memory+") || has(text, "killed as a result of limit of")) {
    const auto invoked = x_invoked.find(line.origin);
    if (invoked == x_invoked.end()) return has(text, "out_of_memory+");
    invoked->second.cgroup = true;
    return true;
  }
  if (const auto constraint = behind(text, "oom-kill:constraint=")) {
    const auto task = behind(*constraint, ",task=");
    if (!task) return false;
    const bool cgroup = constraint->starts_with("CONSTRAINT_MEMCG");
    const auto pid = behind(*task, ",pid=");
    killed(before(*task, ",pid="), pid ? leading_number(*pid).value_or(-1) : -1, cgroup ? "cgroup" : "host",
           line, facts);
    return true;
  }
  if (has(text, "Out of memory and no killable processes")) {
    killed({}, -1, has(text, "cgroup") ? "cgroup" : "host", line, facts);
    return true;
  }
  const bool cgroup = has(text, "emory cgroup out of memory");
  const bool told = cgroup || has(text, "Out of memory");
  for (const std::string_view verb : {"Killed process ", "Kill process ", "oom_reaper: reaped process "}) {
    const auto rest = behind(text, verb);
    if (!rest) continue;
    const auto victim = victim_in(*rest);
    if (!victim) return false;
    killed(victim->name, victim->pid, cgroup ? "cgroup" : told ? "host" : "", line, facts);
    return true;
  }
  return false;
}

bool MemoryAndTaskMessages::take_task(const Line& line, Facts& facts) {
  const std::string_view text = line.message;
  LogEvent event;
  event.kind = LogEventKind::kHungTask;
  if (const auto blocked = behind(text, " blocked for more than ")) {
    const auto task = behind(before(text, " blocked for more than "), "task ");
    const auto seconds = leading_number(*blocked);
    if (!task || !seconds || !has(*blocked, " seconds")) return false;
    event.subject = shown(task_name(trimmed(*task)));
    event.code = *seconds;
  } else if (const auto stuck = behind(text, "soft lockup - CPU#")) {
    if (const auto seconds = behind(*stuck, "stuck for ")) event.code = leading_number(*seconds).value_or(0);
    if (const auto task = behind(*stuck, "[")) event.subject = shown(task_name(before(*task, "]")));
  } else if (!has(text, "hard LOCKUP on cpu") && !has(text, "self-detected stall on CPU") &&
             !has(text, "detected stalls on CPUs/tasks")) {
    return false;
  }
  facts.add(std::move(event), line);
  return true;
}

// The victim was never named: the excerpt is cut. Who asked for memory is all that is known.
void MemoryAndTaskMessages::flush(std::uint32_t origin, Facts& facts) {
  const auto found = x_invoked.find(origin);
  if (found == x_invoked.end()) return;
  LogEvent event;
  event.kind = LogEventKind::kOutOfMemoryKill;
  event.subject = found->second.process;
  event.code = -1;
  event.detail = found->second.cgroup ? "cgroup" : "";
  event.text = found->second.text;
  const Line line = found->second.line;
  x_invoked.erase(found);
  facts.add(std::move(event), line);
}

void MemoryAndTaskMessages::finish(Facts& facts) {
  std::map<std::uint32_t, int> origins;
  for (const auto& [origin, invoked] : x_invoked) origins[origin] = 0;
  for (const auto& [origin, unused] : origins) flush(origin, facts);
}

}  // namespace unhang::formats::log
