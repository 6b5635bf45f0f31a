// SPDX-License-Identifier: Apache-2.0
#include "os/oom_kills.h"

#include <charconv>
#include <fstream>
#include <string_view>
#include <vector>

namespace unhang::os {
namespace {

// "oom_kill 1" on a line of its own, as memory.events and memory.oom_control have it.
std::optional<std::int64_t> count_in(const std::string& path) {
  constexpr std::string_view kName = "oom_kill ";
  constexpr int kMostLines = 64;
  std::ifstream file(path);
  std::string line;
  for (int i = 0; i < kMostLines && std::getline(file, line); ++i) {
    if (!line.starts_with(kName)) continue;
    std::int64_t count = 0;
    const char* end = line.data() + line.size();
    const auto [at, error] = std::from_chars(line.data() + kName.size(), end, count);
    if (error == std::errc{} && at == end && count >= 0) return count;
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::int64_t> count_oom_kills(const std::string& proc, const std::string& sys) {
  constexpr int kMostGroups = 64;
  std::vector<std::string> places;
  std::ifstream groups(proc + "/self/cgroup");
  std::string line;
  // "0::/path" of version 2, "7:memory:/path" of version 1.
  for (int i = 0; i < kMostGroups && std::getline(groups, line); ++i) {
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string kinds = "," + line.substr(first + 1, second - first - 1) + ",";
    const std::string path = line.substr(second + 1);
    if (kinds == ",,") places.push_back(sys + "/fs/cgroup" + path + "/memory.events");
    if (kinds.find(",memory,") != std::string::npos)
      places.push_back(sys + "/fs/cgroup/memory" + path + "/memory.oom_control");
  }
  // In a container the path is the host's, and what is mounted is the group itself.
  places.push_back(sys + "/fs/cgroup/memory.events");
  places.push_back(sys + "/fs/cgroup/memory/memory.oom_control");
  for (const std::string& place : places) {
    if (const auto count = count_in(place)) return count;
  }
  return std::nullopt;
}

}  // namespace unhang::os
