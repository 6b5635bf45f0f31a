// SPDX-License-Identifier: Apache-2.0
#include "collect/worker_processes.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>

#include "base/redaction.h"
#include "collect/dump_places.h"
#include "collect/nccl_release.h"
#include "collect/redaction.h"
#include "os/child_reader.h"

namespace unhang::collect {
namespace {

constexpr int kDeepest = 64;  // of processes that start each other

// They tell the release of the driver's part in user space; having them makes nobody a worker.
const std::vector<std::string>& driver_libraries() {
  static const std::vector<std::string> names{"libcuda.so", "libnvidia-ml.so"};
  return names;
}

bool has_library(const os::Process& process, const std::vector<std::string>& beginnings) {
  return std::any_of(process.libraries.begin(), process.libraries.end(), [&](const std::string& file) {
    const std::string_view name = std::string_view(file).substr(file.rfind('/') + 1);
    return std::any_of(beginnings.begin(), beginnings.end(),
                       [&](const std::string& begin) { return name.starts_with(begin); });
  });
}

bool is_chosen(const os::Process& process, const WorkerChoice& choice, std::int64_t self) {
  if (process.has_ended)
    return std::find(choice.pids.begin(), choice.pids.end(), process.pid) != choice.pids.end();
  if (process.pid == self) return false;  // our own command line has the text of --match, too
  if (choice.pids.empty() && choice.match.empty()) return has_library(process, worker_libraries());
  if (std::find(choice.pids.begin(), choice.pids.end(), process.pid) != choice.pids.end()) return true;
  if (choice.match.empty()) return false;
  std::string line;
  for (const std::string& word : process.command_line) line += (line.empty() ? "" : " ") + word;
  return process.name.find(choice.match) != std::string::npos || line.find(choice.match) != std::string::npos;
}

std::string release_of(const os::Process& process) {
  for (const std::string& library : process.libraries) {
    if (const auto release = release_of_library_name(library)) return release->text();
  }
  return {};
}

model::BundleProcess facts_of(const os::Process& process) {
  model::BundleProcess out;
  out.pid = process.pid;
  out.namespace_pids = process.namespace_pids;
  out.name = process.name;
  out.started_ns = process.started_ns;
  out.nccl_version = release_of(process);
  for (const auto& variable : process.environment) {
    // An address may hold a password, whatever the variable is called.
    if (may_be_kept(variable.first))
      out.environment.emplace_back(variable.first, base::redact_line(variable.second));
  }
  return out;
}

std::int64_t self_pid(const std::string& proc, const os::ReadDeadlines& deadlines) {
  // What the child reads as /proc/self is itself; its parent is this program.
  const auto status =
      os::read_in_child(os::ReadRequest{.path = proc + "/self/status", .max_bytes = 64 << 10}, deadlines);
  const std::size_t at = status.bytes.find("\nPPid:");
  return at == std::string::npos ? -1 : std::atoll(status.bytes.c_str() + at + 6);
}

// Those whose parents lead to a worker. A parent that is its own ancestor (numbers change while we read) ends
// the way.
void add_descendants(const std::vector<os::Process>& all, std::int64_t self, Workers& out) {
  std::map<std::int64_t, const os::Process*> by_pid;
  for (const os::Process& process : all) by_pid[process.pid] = &process;
  std::set<std::int64_t> workers;
  for (const os::Process& worker : out.processes) workers.insert(worker.pid);
  for (const os::Process& process : all) {
    if (workers.contains(process.pid) || process.pid == self) continue;
    const os::Process* at = &process;
    for (int depth = 0; depth < kDeepest && at != nullptr; ++depth) {
      if (workers.contains(at->pid)) {
        out.descendants.push_back(process);
        break;
      }
      const auto parent = at->parent ? by_pid.find(*at->parent) : by_pid.end();
      at = parent == by_pid.end() ? nullptr : parent->second;
    }
  }
}

void judge(Workers& out, const WorkerChoice& choice, const std::vector<std::string>& notes) {
  using Status = model::SourceStatus;
  const auto unreadable = std::count_if(
      out.processes.begin(), out.processes.end(),
      [](const os::Process& process) { return !process.environment_known && !process.has_ended; });
  std::vector<std::string> reasons = notes;
  if (unreadable > 0) {
    reasons.push_back("the environment of " + std::to_string(unreadable) + " of " +
                      std::to_string(out.processes.size()) +
                      " processes may not be read: run it as their user or as root");
  }
  if (out.processes.empty()) {
    reasons.insert(reasons.begin(),
                   choice.pids.empty() && choice.match.empty()
                       ? "no process that may be looked at has NCCL or PyTorch's GPU library loaded"
                       : "none of the processes asked for was found");
  }
  for (const std::string& reason : reasons) out.reason += (out.reason.empty() ? "" : "; ") + reason;
  out.status = out.processes.empty() ? Status::kMissing
               : reasons.empty()     ? Status::kAnswered
                                     : Status::kPartial;
}

}  // namespace

Workers find_workers(const WorkerChoice& choice) {
  Workers out;
  os::ProcessTableOptions options;
  options.proc = choice.proc;
  options.variables = kept_variables();
  options.variables.insert(options.variables.end(), dump_variables().begin(), dump_variables().end());
  options.library_names = worker_libraries();
  options.library_names.insert(options.library_names.end(), driver_libraries().begin(),
                               driver_libraries().end());
  options.deadlines.end = choice.end;
  options.dead = true;
  const auto table = os::read_process_table(options);
  if (!table) {
    out.reason = table.error().message;
    return out;
  }
  const std::int64_t self = self_pid(choice.proc, options.deadlines);
  for (const os::Process& process : table->processes) {
    if (!is_chosen(process, choice, self)) continue;
    out.processes.push_back(process);
    out.facts.push_back(facts_of(process));
  }
  add_descendants(table->processes, self, out);
  const auto own = os::read_in_child(
      os::ReadRequest{.kind = os::ReadKind::kLink, .path = choice.proc + "/self/ns/mnt"}, options.deadlines);
  out.own_namespace = own.bytes;
  judge(out, choice, table->notes);
  return out;
}

}  // namespace unhang::collect
