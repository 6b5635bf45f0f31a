// SPDX-License-Identifier: Apache-2.0
#include "checks/env_processes.h"

#include <algorithm>
#include <set>

#include "base/printable.h"
#include "checks/engine_command.h"
#include "os/process_table.h"

namespace unhang::checks {
namespace {

Environment environment_of(const os::Process& process) {
  Environment out;
  out.name = "pid " + std::to_string(process.pid) + " (" + base::printable(process.name) + ")";
  std::string command;
  for (const std::string& word : process.command_line) command += word + "\n";
  out.engine = engine_of_command(command);
  for (const auto& [name, value] : process.environment) {
    if (is_watched(name)) out.variables.push_back({.name = name, .value = value, .where = out.name});
  }
  return out;
}

// Everything that descends from `pid`. Parents come in any order of numbers, so it goes on until nothing is
// found any more; each round finds one at least.
std::set<std::int64_t> below(const std::vector<os::Process>& processes, std::int64_t pid) {
  std::set<std::int64_t> found{pid};
  for (bool grown = true; grown;) {
    grown = false;
    for (const os::Process& process : processes) {
      if (process.parent && found.contains(*process.parent) && found.insert(process.pid).second) grown = true;
    }
  }
  found.erase(pid);
  return found;
}

// The names in /proc/PID/net/dev: two lines of headings, then "  eth0: numbers".
std::optional<std::vector<std::string>> interfaces_of(const ProcessChoice& choice) {
  const auto reply =
      os::read_in_child(os::ReadRequest{.path = choice.proc + "/" + std::to_string(choice.pid) + "/net/dev"},
                        os::ReadDeadlines{.end = choice.end});
  if (!reply.usable()) return std::nullopt;
  std::vector<std::string> names;
  std::string_view rest = reply.bytes;
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    const std::size_t begin = line.find_first_not_of(' '), colon = line.find(':');
    if (colon == std::string_view::npos || begin >= colon) continue;
    names.push_back(base::printable(line.substr(begin, colon - begin)));
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

base::Result<ProcessEnvironments> read_process_environments(const ProcessChoice& choice) {
  os::ProcessTableOptions options;
  options.proc = choice.proc;
  options.variables = watched_variables();
  options.library_names = choice.library_names;
  options.deadlines.end = choice.end;
  const auto table = os::read_process_table(options);
  if (!table) return base::fail(table.error());
  const auto self = std::find_if(table->processes.begin(), table->processes.end(),
                                 [&](const os::Process& process) { return process.pid == choice.pid; });
  if (self == table->processes.end())
    return base::fail(base::ErrorCode::kNoInput, "there is no process " + std::to_string(choice.pid));
  if (!self->environment_known) {
    return base::fail(base::ErrorCode::kNoInput, "the environment of process " + std::to_string(choice.pid) +
                                                     " may not be read: run it as its user or as root");
  }
  ProcessEnvironments out;
  out.environment = environment_of(*self);
  out.is_worker = !self->libraries.empty();
  out.libraries = self->libraries;
  out.notes = table->notes;
  const std::set<std::int64_t> descendants = below(table->processes, choice.pid);
  const auto is_worker = [&](const os::Process& process) {
    return descendants.contains(process.pid) && !process.libraries.empty();
  };
  const bool some = std::any_of(table->processes.begin(), table->processes.end(), is_worker);
  std::size_t unreadable = 0;
  for (const os::Process& process : table->processes) {
    if (!descendants.contains(process.pid) || (some && !is_worker(process))) continue;
    if (!process.environment_known) {
      ++unreadable;
      continue;
    }
    if (out.libraries.empty()) out.libraries = process.libraries;
    out.workers.push_back(environment_of(process));
    // Of a script that starts an engine, or of an engine that starts workers, one tells it for all.
    if (!out.environment.engine) out.environment.engine = out.workers.back().engine;
    if (!out.workers.back().engine) out.workers.back().engine = out.environment.engine;
  }
  if (unreadable > 0)
    out.notes.push_back("the environment of " + std::to_string(unreadable) +
                        " processes below it may not be read: run it as their user or as root");
  out.interfaces = interfaces_of(choice);
  return out;
}

}  // namespace unhang::checks
