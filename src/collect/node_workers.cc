// SPDX-License-Identifier: Apache-2.0
//
// The workers of a node, as `unhang doctor` wants to know them, and who launched them.
#include <algorithm>
#include <charconv>
#include <limits>

#include "collect/node_parts.h"

namespace unhang::collect {
namespace {

using model::NodeProcess;
using model::NodeWorker;

NodeProcess process_of(const os::Process& process) {
  return {.pid = process.pid,
          .name = process.name,
          .environment_known = process.environment_known,
          .environment = process.environment};
}

bool is_of_a_job(const NodeProcess& process) {
  return std::any_of(process.environment.begin(), process.environment.end(), [](const auto& variable) {
    return variable.first.starts_with("NCCL_") || variable.first.starts_with("TORCH_");
  });
}

// Where packages of Python lie, of a library in one of them: ".../site-packages/" of
// ".../site-packages/nvidia/nccl/lib/libnccl.so.2". Empty: it lies elsewhere.
std::string packages_of(std::string_view library, std::string_view inside) {
  const std::size_t at = library.find(inside);
  return at == std::string_view::npos ? std::string() : std::string(library.substr(0, at + 1));
}

// The wheel's library is called libnccl.so.2 whatever its release; the folder of its metadata tells:
// nvidia_nccl_cu12-2.28.9.dist-info.
std::string nccl_of_wheel(const NodeView& view, const std::string& folder) {
  for (const std::string& name : view.names_in(folder)) {
    if (!name.starts_with("nvidia_nccl_cu")) continue;
    const auto release = parse_nccl_release(std::string_view(name).substr(name.find('-') + 1));
    if (release) return release->text();
  }
  return {};
}

void add_releases(const NodeView& view, std::size_t i, NodeWorker& worker) {
  worker.nccl_release = view.workers.facts[i].nccl_version;
  const std::string reach = view.reach_of(i);
  for (const std::string& library : view.workers.processes[i].libraries) {
    if (worker.nccl_release.empty()) {
      const std::string folder = packages_of(library, "/nvidia/nccl/lib/");
      if (!folder.empty()) worker.nccl_release = nccl_of_wheel(view, reach + folder);
    }
    if (worker.torch_release.empty()) {
      const std::string folder = packages_of(library, "/torch/lib/");
      if (folder.empty()) continue;
      const auto reply = os::read_in_child(
          os::ReadRequest{.root = reach, .path = folder + "torch/version.py", .max_bytes = 64 << 10},
          view.deadlines);
      worker.torch_release = torch_release_of(reply.bytes);
    }
  }
}

NodeWorker worker_of(const NodeView& view, std::size_t i) {
  const os::Process& process = view.workers.processes[i];
  NodeWorker worker;
  worker.process = {.pid = process.pid, .name = process.name, .environment_known = false, .environment = {}};
  if (const os::Process* known = view.process_of(process.pid)) worker.process = process_of(*known);
  worker.has_own_root = !view.reach_of(i).empty();
  worker.not_readable = process.not_readable;
  if (const std::string* rank = process.variable("RANK")) {
    std::int64_t value = -1;
    const auto [end, error] = std::from_chars(rank->data(), rank->data() + rank->size(), value);
    if (error == std::errc() && end == rank->data() + rank->size() && value >= 0) worker.rank = value;
  }
  const std::string folder = view.look.proc + "/" + std::to_string(process.pid);
  const std::string status = view.read(folder + "/status");
  constexpr std::size_t kEffective = 1;  // real, effective, saved, file system
  const auto users = numbers_in(status_value(status, "Uid")),
             groups = numbers_in(status_value(status, "Gid"));
  if (users.size() > kEffective) worker.user = users[kEffective];
  if (groups.size() > kEffective) {
    worker.groups = numbers_in(status_value(status, "Groups"));
    worker.groups.push_back(groups[kEffective]);
  }
  worker.memlock_bytes = memlock_of(view.read(folder + "/limits"));
  add_releases(view, i, worker);
  return worker;
}

// The uppermost process above a worker that has variables of a job: what is set there was meant for all.
const os::Process* launcher_of(const NodeView& view, const os::Process& worker) {
  const os::Process* found = nullptr;
  constexpr int kDeepest = 64;  // parents that change while we read could make a circle
  const os::Process* at = view.process_of(worker.parent.value_or(0));
  for (int depth = 0; depth < kDeepest && at != nullptr; ++depth) {
    if (is_of_a_job(process_of(*at))) found = at;
    at = view.process_of(at->parent.value_or(0));
  }
  return found;
}

}  // namespace

std::optional<std::uint64_t> memlock_of(std::string_view limits) {
  constexpr std::string_view kName = "Max locked memory";
  const std::size_t at = limits.find(kName);
  if (at == std::string_view::npos) return std::nullopt;
  limits.remove_prefix(at + kName.size());
  const std::size_t begin = limits.find_first_not_of(' ');
  if (begin == std::string_view::npos) return std::nullopt;
  limits.remove_prefix(begin);
  if (limits.starts_with("unlimited")) return std::numeric_limits<std::uint64_t>::max();
  std::uint64_t bytes = 0;
  const auto [end, error] = std::from_chars(limits.data(), limits.data() + limits.size(), bytes);
  return error == std::errc() ? std::optional(bytes) : std::nullopt;
}

std::string torch_release_of(std::string_view version_py) {
  const std::size_t at = version_py.find("__version__");
  if (at == std::string_view::npos) return {};
  version_py = version_py.substr(at, version_py.find('\n', at) - at);
  const std::size_t begin = version_py.find_first_of("0123456789");
  if (begin == std::string_view::npos) return {};
  version_py.remove_prefix(begin);
  return std::string(version_py.substr(0, version_py.find_first_not_of("0123456789.")));
}

void look_at_workers(const NodeView& view, model::NodeFacts& facts) {
  if (!view.workers.reason.empty()) facts.worker_notes.push_back(view.workers.reason);
  for (std::size_t i = 0; i < view.workers.processes.size(); ++i) {
    NodeWorker worker = worker_of(view, i);
    if (const os::Process* launcher = launcher_of(view, view.workers.processes[i])) {
      const auto at = std::find_if(facts.launchers.begin(), facts.launchers.end(),
                                   [&](const NodeProcess& known) { return known.pid == launcher->pid; });
      worker.launcher = static_cast<std::size_t>(at - facts.launchers.begin());
      if (at == facts.launchers.end()) facts.launchers.push_back(process_of(*launcher));
    }
    facts.workers.push_back(std::move(worker));
  }
}

}  // namespace unhang::collect
