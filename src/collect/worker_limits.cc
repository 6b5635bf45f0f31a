// SPDX-License-Identifier: Apache-2.0
#include "collect/worker_limits.h"

#include <algorithm>

#include "collect/fact_tree.h"

namespace unhang::collect {
namespace {

template <class Visit>
void each_line(std::string_view text, Visit&& visit) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    visit(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

std::string_view next_word(std::string_view& line) {
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  const std::string_view word = line.substr(0, line.find(' '));
  line.remove_prefix(word.size());
  return word;
}

}  // namespace

std::map<std::string, std::pair<std::string, std::string>> limits_of(std::string_view text) {
  std::map<std::string, std::pair<std::string, std::string>> out;
  each_line(text, [&](std::string_view line) {
    constexpr std::size_t kNameColumns = 26;  // fs/proc/base.c: "%-25s %-20s %-20s %-10s"
    if (!line.starts_with("Max ") || line.size() <= kNameColumns) return;
    const std::string name(without_space_around(line.substr(0, kNameColumns)));
    line.remove_prefix(kNameColumns);
    const std::string soft(next_word(line));
    out[name] = {soft, std::string(next_word(line))};
  });
  return out;
}

std::map<std::string, std::string> status_values(std::string_view text,
                                                 const std::vector<std::string>& names) {
  std::map<std::string, std::string> out;
  each_line(text, [&](std::string_view line) {
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) return;
    const std::string name(line.substr(0, colon));
    if (std::find(names.begin(), names.end(), name) != names.end())
      out.emplace(name, without_space_around(line.substr(colon + 1)));
  });
  return out;
}

std::vector<std::string> cgroup_folders(std::string_view text) {
  std::vector<std::string> out;
  each_line(text, [&](std::string_view line) {
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string_view::npos ? first : line.find(':', first + 1);
    if (second == std::string_view::npos) return;
    const std::string_view controllers = line.substr(first + 1, second - first - 1);
    std::string path(line.substr(second + 1));
    while (path.starts_with('/')) path.erase(0, 1);
    if (controllers.empty()) {
      out.push_back(path);
    } else if (controllers == "memory" || controllers == "pids") {
      out.push_back(std::string(controllers) + "/" + path);
    }
  });
  return out;
}

Mount mount_at(std::string_view mountinfo, std::string_view path) {
  Mount mount;
  each_line(mountinfo, [&](std::string_view line) {
    // 36 35 98:0 /root /dev/shm rw,nosuid master:1 - tmpfs shm rw,size=65536k
    for (int i = 0; i < 4; ++i) next_word(line);
    if (next_word(line) != path) return;
    const std::size_t separator = line.find(" - ");
    if (separator == std::string_view::npos) return;
    line.remove_prefix(separator + 3);
    mount.type = next_word(line);
    next_word(line);
    mount.options = next_word(line);
  });
  return mount;
}

}  // namespace unhang::collect
