// SPDX-License-Identifier: Apache-2.0
//
// The machine or container itself: clock, tools, rights, room on disk, shared memory, core files.
#include <algorithm>
#include <charconv>
#include <set>

#include "collect/node_parts.h"
#include "os/clock_state.h"
#include "os/run_program.h"

namespace unhang::collect {
namespace {

std::optional<std::int64_t> setting(const NodeView& view, const std::string& name) {
  const auto numbers = numbers_in(view.read(view.look.proc + "/sys/kernel/" + name));
  return numbers.empty() ? std::nullopt : std::optional(numbers.front());
}

// "hidepid=2" or "hidepid=invisible" among the options of /proc in /proc/self/mounts; 0 and "off" hide
// nothing.
std::string hidepid_of(std::string_view mounts, const std::string& proc) {
  while (!mounts.empty()) {
    const std::string_view line = mounts.substr(0, mounts.find('\n'));
    mounts.remove_prefix(std::min(line.size() + 1, mounts.size()));
    if (!line.starts_with("proc " + proc + " ")) continue;
    constexpr std::string_view kName = "hidepid=";
    const std::size_t at = line.find(kName);
    if (at == std::string_view::npos) continue;
    const std::string_view rest = line.substr(at + kName.size());
    const std::string value(rest.substr(0, rest.find_first_of(", ")));
    return value == "0" || value == "off" ? std::string() : value;
  }
  return {};
}

void look_at_rights(const NodeView& view, model::NodeRights& rights) {
  // A child reads it: it has the user and the capabilities that we have.
  const std::string status = view.read(view.look.proc + "/self/status");
  const auto users = numbers_in(status_value(status, "Uid"));
  if (users.size() > 1) rights.user = users[1];
  const std::string_view capabilities = status_value(status, "CapEff");
  std::uint64_t bits = 0;
  constexpr int kHexadecimal = 16;
  const auto [end, error] =
      std::from_chars(capabilities.data(), capabilities.data() + capabilities.size(), bits, kHexadecimal);
  if (error == std::errc() && end != capabilities.data()) rights.capabilities = bits;
  rights.ptrace_scope = setting(view, "yama/ptrace_scope");
  rights.dmesg_restrict = setting(view, "dmesg_restrict");
  rights.perf_event_paranoid = setting(view, "perf_event_paranoid");
  rights.kernel_log = view.paths({}, {view.look.dev + "/kmsg"}).front();
  rights.hidepid = hidepid_of(view.read(view.look.proc + "/self/mounts"), view.look.proc);
}

void look_for_tools(const NodeView& view, model::NodeFacts& facts) {
  const std::string path = view.variable("PATH");
  for (const char* name : {"gdb", "py-spy", "nvidia-smi", "dmesg", "kubectl", "scontrol"})
    facts.tools.emplace_back(name, path.empty() ? std::string() : os::find_program(name, path));
}

// Once for each mount namespace of the workers: what is mounted there is the container's.
void look_at_shm(const NodeView& view, model::NodeFacts& facts) {
  if (facts.workers.empty()) facts.shm.push_back({view.paths({}, {view.look.dev + "/shm"}).front(), {}});
  std::vector<std::string> known;
  for (std::size_t i = 0; i < facts.workers.size(); ++i) {
    const os::Process& worker = view.workers.processes[i];
    const std::string& key = worker.mount_namespace.empty() ? worker.root : worker.mount_namespace;
    const auto at = std::find(known.begin(), known.end(), key);
    const auto index = static_cast<std::size_t>(at - known.begin());
    if (at == known.end()) {
      const std::string reach = view.reach_of(i);
      facts.shm.push_back(
          {view.paths(reach, {reach.empty() ? view.look.dev + "/shm" : "/dev/shm"}).front(), {}});
      known.push_back(key);
    }
    facts.shm[index].workers.push_back(i);
  }
}

void look_at_core_files(const NodeView& view, model::NodeFacts& facts) {
  facts.core_pattern = view.trimmed(view.look.proc + "/sys/kernel/core_pattern");
  if (!facts.core_pattern.starts_with('|')) return;
  const std::size_t begin = facts.core_pattern.find_first_not_of("| ");
  if (begin == std::string::npos) return;
  const std::string handler = facts.core_pattern.substr(begin, facts.core_pattern.find(' ', begin) - begin);
  const auto found = view.paths({}, {handler}).front();
  if (found.looked) facts.core_handler_exists = found.exists;
}

}  // namespace

void look_at_machine(const NodeView& view, model::NodeFacts& facts) {
  if (const os::ClockState clock = os::clock_state(); clock.known) {
    facts.clock = {.synchronized = clock.synchronised,
                   .estimated_error_us = clock.estimated_error_us,
                   .largest_error_us = clock.maximum_error_us,
                   .timesyncd_says_so = false};
  }
  const auto marks =
      view.paths({}, {view.look.run + "/systemd/timesync/synchronized", view.look.run + "/.containerenv",
                      "/.dockerenv", view.look.run + "/secrets/kubernetes.io/serviceaccount/token"});
  facts.clock.timesyncd_says_so = marks[0].exists;
  facts.in_kubernetes = !view.variable("KUBERNETES_SERVICE_HOST").empty();
  facts.has_kubernetes_account = marks[3].exists;
  facts.in_slurm = !view.variable("SLURM_JOB_ID").empty();
  facts.in_container =
      facts.in_kubernetes || marks[1].exists || marks[2].exists || !view.variable("container").empty();
  look_for_tools(view, facts);
  look_at_rights(view, facts.rights);
  const std::string temporary = view.variable("TMPDIR");
  facts.bundle_places = view.paths({}, {temporary.empty() ? "/tmp" : temporary, view.look.folder});
  look_at_shm(view, facts);
  look_at_core_files(view, facts);
}

}  // namespace unhang::collect
