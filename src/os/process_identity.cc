// SPDX-License-Identifier: Apache-2.0
#include "os/process_identity.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

#include <sys/resource.h>
#include <unistd.h>

#include "os/child_reader.h"

namespace unhang::os {
namespace {

struct NamedLimit {
  std::string_view name;
  int resource;
};
constexpr std::array<NamedLimit, 15> kLimits{{{"CPU", RLIMIT_CPU},
                                              {"FSIZE", RLIMIT_FSIZE},
                                              {"DATA", RLIMIT_DATA},
                                              {"STACK", RLIMIT_STACK},
                                              {"CORE", RLIMIT_CORE},
                                              {"RSS", RLIMIT_RSS},
                                              {"NPROC", RLIMIT_NPROC},
                                              {"NOFILE", RLIMIT_NOFILE},
                                              {"MEMLOCK", RLIMIT_MEMLOCK},
                                              {"AS", RLIMIT_AS},
                                              {"LOCKS", RLIMIT_LOCKS},
                                              {"SIGPENDING", RLIMIT_SIGPENDING},
                                              {"MSGQUEUE", RLIMIT_MSGQUEUE},
                                              {"NICE", RLIMIT_NICE},
                                              {"RTPRIO", RLIMIT_RTPRIO}}};

// The numbers in the line of `name` in /proc/PID/status.
std::vector<std::uint32_t> status_numbers(std::string_view status, std::string_view name) {
  std::vector<std::uint32_t> out;
  std::size_t at = status.find("\n" + std::string(name) + ":");
  if (at == std::string_view::npos) return out;
  at += name.size() + 2;
  std::string_view line = status.substr(at, status.find('\n', at) - at);
  while (!line.empty()) {
    std::uint32_t value = 0;
    const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), value);
    if (error == std::errc{}) {
      out.push_back(value);
      line.remove_prefix(static_cast<std::size_t>(end - line.data()));
    } else {
      line.remove_prefix(1);
    }
  }
  return out;
}

}  // namespace

int limit_of_name(std::string_view name) {
  for (const NamedLimit& limit : kLimits) {
    if (limit.name == name) return limit.resource;
  }
  return -1;
}

base::Result<RunningProcess> read_running_process(std::int64_t pid, std::chrono::steady_clock::time_point end,
                                                  const std::string& proc) {
  const std::string folder = proc + "/" + std::to_string(pid) + "/";
  const std::vector<ReadRequest> requests{{.path = folder + "environ", .max_bytes = 4 << 20, .group = 0},
                                          {.path = folder + "status", .group = 1},
                                          {.kind = ReadKind::kLink, .path = folder + "cwd", .group = 2}};
  const auto replies = read_in_child(requests, {.end = end});
  if (!replies[0].usable() || !replies[1].usable()) {
    return base::fail(base::ErrorCode::kNoInput,
                      "process " + std::to_string(pid) +
                          " cannot be read: " + reason_text(replies[0].usable() ? replies[1] : replies[0]) +
                          "; is it running, and of the same user (or run as root)?");
  }
  RunningProcess out;
  std::string_view environment = replies[0].bytes;
  while (!environment.empty()) {
    const std::size_t stop = std::min(environment.find('\0'), environment.size());
    if (environment.substr(0, stop).find('=') != std::string_view::npos)
      out.environment.emplace_back(environment.substr(0, stop));
    environment.remove_prefix(std::min(stop + 1, environment.size()));
  }
  // Real, effective, saved, of the file system: what it does is done as the effective one.
  const auto users = status_numbers(replies[1].bytes, "Uid"),
             groups = status_numbers(replies[1].bytes, "Gid");
  if (users.size() < 2 || groups.size() < 2)
    return base::fail(base::ErrorCode::kNoInput,
                      "process " + std::to_string(pid) + ": its user is not known to /proc");
  out.identity.user = users[1];
  out.identity.group = groups[1];
  out.identity.groups = status_numbers(replies[1].bytes, "Groups");
  if (replies[2].usable()) {
    out.identity.folder = replies[2].bytes;
  } else {
    out.notes.push_back("its working folder cannot be read (" + reason_text(replies[2]) +
                        "): the command runs in the current one");
  }
  bool all_limits = true;
  for (const NamedLimit& known : kLimits) {
    rlimit value{};
    if (::prlimit(static_cast<pid_t>(pid), static_cast<__rlimit_resource>(known.resource), nullptr, &value) ==
        0) {
      out.identity.limits.push_back({known.resource, value.rlim_cur, value.rlim_max});
    } else {
      all_limits = false;
    }
  }
  if (!all_limits) out.notes.push_back("its limits may not be read: those of this shell are used");
  return out;
}

}  // namespace unhang::os
