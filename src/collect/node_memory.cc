// SPDX-License-Identifier: Apache-2.0
//
// How close the control groups of workers, and ours, are to their limit of memory.
#include <algorithm>
#include <charconv>
#include <map>

#include "collect/node_parts.h"

namespace unhang::collect {
namespace {

constexpr std::size_t kMostDepth = 16;
constexpr std::size_t kMostGroups = 256;
constexpr std::uint64_t kNoLimit = std::uint64_t{1} << 60;  // version 1 says "none" with a number near 2^63

// The lines of /proc/PID/cgroup: "0::/kubepods/pod1/abc" or "5:memory:/docker/abc".
struct Group {
  std::string path;
  bool is_version_1 = false;
};
std::optional<Group> group_of(std::string_view lines) {
  std::optional<Group> found;
  while (!lines.empty()) {
    const std::string_view line = lines.substr(0, lines.find('\n'));
    lines.remove_prefix(std::min(line.size() + 1, lines.size()));
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string_view::npos || second == std::string_view::npos) continue;
    const std::string_view controllers = line.substr(first + 1, second - first - 1);
    std::string path(line.substr(second + 1));
    // Outside of our own hierarchy: "/../..". Then what is mounted here is looked at.
    if (path.find("..") != std::string::npos) path = "/";
    if (controllers.empty() && !found) found = Group{std::move(path), false};
    if (("," + std::string(controllers) + ",").find(",memory,") != std::string::npos)
      return Group{path, true};
  }
  return found;
}

std::optional<std::uint64_t> number_of(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() ? std::optional(value) : std::nullopt;
}

// "inactive_file 1234" in memory.stat.
std::uint64_t stat_of(std::string_view stat, std::string_view name) {
  while (!stat.empty()) {
    const std::string_view line = stat.substr(0, stat.find('\n'));
    stat.remove_prefix(std::min(line.size() + 1, stat.size()));
    if (line.starts_with(name) && line.size() > name.size() && line[name.size()] == ' ')
      return number_of(line.substr(name.size() + 1)).value_or(0);
  }
  return 0;
}

std::optional<model::NodeMemory> memory_of(const NodeView& view, const Group& group) {
  const std::string root = view.look.sys + "/fs/cgroup" + (group.is_version_1 ? "/memory" : "");
  const std::string folder = root + (group.path == "/" ? "" : group.path);
  const auto limit =
      number_of(view.read(folder + (group.is_version_1 ? "/memory.limit_in_bytes" : "/memory.max")));
  if (!limit || *limit >= kNoLimit || *limit == 0) return std::nullopt;
  const auto used =
      number_of(view.read(folder + (group.is_version_1 ? "/memory.usage_in_bytes" : "/memory.current")));
  if (!used) return std::nullopt;
  const std::uint64_t droppable = stat_of(view.read(folder + "/memory.stat"),
                                          group.is_version_1 ? "total_inactive_file" : "inactive_file");
  return model::NodeMemory{group.path, *limit, *used - std::min(droppable, *used)};
}

// A limit may stand at any level above: a pod has one, its containers have their own.
void add_with_parents(const NodeView& view, Group group, std::map<std::string, model::NodeMemory>& found,
                      std::size_t& looked) {
  for (std::size_t depth = 0; depth < kMostDepth && looked < kMostGroups; ++depth, ++looked) {
    if (found.contains(group.path)) return;
    if (auto memory = memory_of(view, group)) found.emplace(group.path, std::move(*memory));
    if (group.path == "/" || group.path.empty()) return;
    const std::size_t slash = group.path.rfind('/');
    group.path = slash == 0 || slash == std::string::npos ? "/" : group.path.substr(0, slash);
  }
}

}  // namespace

void look_at_memory(const NodeView& view, model::NodeFacts& facts) {
  std::vector<std::string> processes{"self"};
  for (const model::NodeWorker& worker : facts.workers)
    processes.push_back(std::to_string(worker.process.pid));
  std::map<std::string, model::NodeMemory> found;
  std::size_t looked = 0;
  for (const std::string& process : processes) {
    const auto group = group_of(view.read(view.look.proc + "/" + process + "/cgroup"));
    if (group) add_with_parents(view, *group, found, looked);
  }
  for (auto& [path, memory] : found) facts.memory.push_back(std::move(memory));
}

}  // namespace unhang::collect
