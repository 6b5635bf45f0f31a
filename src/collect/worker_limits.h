// SPDX-License-Identifier: Apache-2.0
//
// What /proc tells of a worker's limits, control group and mounts, reduced to what decides whether its
// communication can work.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace unhang::collect {

// "Max locked memory" -> {"65536", "unlimited"} (soft, hard) of /proc/PID/limits.
std::map<std::string, std::pair<std::string, std::string>> limits_of(std::string_view text);

// Lines "Name:\tvalue" of /proc/PID/status that were asked for.
std::map<std::string, std::string> status_values(std::string_view text,
                                                 const std::vector<std::string>& names);

// The folders of its control groups below /sys/fs/cgroup: the one of version 2, and those of memory and pids
// where there is version 1. "memory/docker/…"
std::vector<std::string> cgroup_folders(std::string_view text);

// One mount of /proc/PID/mountinfo.
struct Mount {
  std::string type, options;  // "tmpfs", "rw,size=65536k"
};
// What is mounted at `path`; the last one counts. No type: nothing is.
Mount mount_at(std::string_view mountinfo, std::string_view path);

}  // namespace unhang::collect
