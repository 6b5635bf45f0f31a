// SPDX-License-Identifier: Apache-2.0
#include "cli/adopted_launch.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>

#include <fmt/format.h>
#include <grp.h>
#include <pwd.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/printable.h"
#include "checks/shell_words.h"
#include "cli/launch_look.h"
#include "os/child_reader.h"
#include "os/run_program.h"

namespace unhang::cli {
namespace {

using std::chrono::steady_clock;

constexpr std::chrono::seconds kPatience{5};
constexpr std::array<std::string_view, 10> kProperties{"LoadState",
                                                       "MainPID",
                                                       "User",
                                                       "Group",
                                                       "SupplementaryGroups",
                                                       "Environment",
                                                       "EnvironmentFiles",
                                                       "WorkingDirectory",
                                                       "ExecStart",
                                                       "PassEnvironment"};
constexpr std::array<std::string_view, 13> kLimitNames{"CPU",   "FSIZE",      "DATA",    "STACK",   "CORE",
                                                       "RSS",   "NPROC",      "NOFILE",  "MEMLOCK", "AS",
                                                       "LOCKS", "SIGPENDING", "MSGQUEUE"};

template <class Visit>
void each_line(std::string_view text, Visit&& visit) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    visit(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

std::uint64_t limit_value(std::string_view text) {
  std::uint64_t value = RLIM_INFINITY;  // "infinity" is no number
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// The user by name or number, with what the system sets for it.
base::Result<> take_user(const std::string& user, const std::string& group, os::RunningProcess& out) {
  const passwd* found = user.empty() ? ::getpwuid(0)
                        : is_number(user)
                            ? ::getpwuid(static_cast<uid_t>(std::strtoul(user.c_str(), nullptr, 10)))
                            : ::getpwnam(user.c_str());
  if (found == nullptr)
    return base::fail(base::ErrorCode::kNoInput, "there is no user '" + base::printable(user) + "' here");
  out.identity.user = found->pw_uid;
  out.identity.group = found->pw_gid;
  out.identity.folder = "/";
  set_in(out.environment, "HOME", found->pw_dir);
  set_in(out.environment, "LOGNAME", found->pw_name);
  set_in(out.environment, "USER", found->pw_name);
  set_in(out.environment, "SHELL", found->pw_shell);
  std::array<gid_t, 256> groups{};
  int count = static_cast<int>(groups.size());
  if (::getgrouplist(found->pw_name, found->pw_gid, groups.data(), &count) > 0)
    out.identity.groups.assign(groups.begin(), groups.begin() + count);
  if (group.empty()) return {};
  if (const auto* named = is_number(group)
                              ? ::getgrgid(static_cast<gid_t>(std::strtoul(group.c_str(), nullptr, 10)))
                              : ::getgrnam(group.c_str())) {
    out.identity.group = named->gr_gid;
    return {};
  }
  return base::fail(base::ErrorCode::kNoInput, "there is no group '" + base::printable(group) + "' here");
}

// "/etc/default/vllm (ignore_errors=yes)"
void take_file(std::string_view value, os::RunningProcess& out) {
  const std::string path(value.substr(0, value.rfind(" (")));
  const auto reply =
      os::read_in_child({.path = path, .max_bytes = 1 << 20}, {.end = steady_clock::now() + kPatience});
  if (!reply.usable()) {
    out.notes.push_back(path + " of the unit cannot be read: " + os::reason_text(reply));
    return;
  }
  each_line(reply.bytes, [&](std::string_view line) {
    const std::size_t first = line.find_first_not_of(" \t");
    if (first == std::string_view::npos || line[first] == '#' || line[first] == ';') return;
    std::string entry;
    for (const checks::ShellWord& word : checks::systemd_words(line.substr(first)))
      entry += (entry.empty() ? "" : " ") + word.text;
    if (const std::size_t equals = entry.find('='); equals != std::string::npos && equals > 0)
      set_in(out.environment, entry.substr(0, equals), entry.substr(equals + 1));
  });
}

}  // namespace

base::Result<os::RunningProcess> adopt_process(std::int64_t pid) {
  return os::read_running_process(pid, steady_clock::now() + kPatience);
}

std::string unit_property(std::string_view properties, std::string_view name) {
  std::string found;
  each_line(properties, [&](std::string_view line) {
    if (found.empty() && line.size() > name.size() && line.starts_with(name) && line[name.size()] == '=')
      found = line.substr(name.size() + 1);
  });
  return found;
}

base::Result<os::RunningProcess> launch_of_properties(std::string_view properties, const std::string& unit) {
  os::RunningProcess out;
  // What systemd gives to services of the system (systemd.exec(5)).
  set_in(out.environment, "PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin");
  set_in(out.environment, "LANG", "C.UTF-8");
  auto taken = take_user(unit_property(properties, "User"), unit_property(properties, "Group"), out);
  if (!taken) return base::fail(std::move(taken.error()));
  for (const checks::ShellWord& word : checks::systemd_words(unit_property(properties, "Environment"))) {
    if (const std::size_t equals = word.text.find('='); equals != std::string::npos && equals > 0)
      set_in(out.environment, word.text.substr(0, equals), word.text.substr(equals + 1));
  }
  // Files come behind the variables and win.
  each_line(properties, [&](std::string_view line) {
    constexpr std::string_view kFiles = "EnvironmentFiles=";
    if (line.starts_with(kFiles) && line.size() > kFiles.size()) take_file(line.substr(kFiles.size()), out);
  });
  std::string folder = unit_property(properties, "WorkingDirectory");
  if (folder.starts_with('!')) folder.erase(0, 1);
  if (folder == "~") folder = value_in(out.environment, "HOME");
  if (!folder.empty()) out.identity.folder = folder;
  for (const std::string_view name : kLimitNames) {
    const std::string hard = unit_property(properties, "Limit" + std::string(name));
    const std::string soft = unit_property(properties, "Limit" + std::string(name) + "Soft");
    if (hard.empty()) continue;
    out.identity.limits.push_back(
        {os::limit_of_name(name), limit_value(soft.empty() ? hard : soft), limit_value(hard)});
  }
  out.notes.push_back(base::printable(unit) +
                      " does not run: its user, limits and environment are those that its unit states");
  return out;
}

base::Result<os::RunningProcess> adopt_unit(const std::string& unit) {
  os::ProgramRequest request;
  request.words = {"systemctl", "show"};
  std::string names;
  for (const std::string_view name : kProperties) names += std::string(name) + ",";
  for (const std::string_view name : kLimitNames) names += fmt::format("Limit{},Limit{}Soft,", name, name);
  names.pop_back();
  request.words.insert(request.words.end(), {"--property=" + names, "--", unit});
  request.deadline = steady_clock::now() + kPatience;
  const auto reply = os::run_program(request);
  if (!reply)
    return base::fail(base::ErrorCode::kUnavailable,
                      "systemd cannot be asked for " + base::printable(unit) + ": " + reply.error().message);
  if (!reply->well()) {
    const std::string why = reply->timed_out ? "no answer" : base::printable(reply->errors.substr(0, 200));
    return base::fail(base::ErrorCode::kUnavailable,
                      "systemd cannot be asked for " + base::printable(unit) + ": " + why);
  }
  if (unit_property(reply->output, "LoadState") == "not-found")
    return base::fail(base::ErrorCode::kNoInput,
                      "systemd knows no unit " + base::printable(unit) + " (systemctl list-units)");
  const long long pid = std::strtoll(unit_property(reply->output, "MainPID").c_str(), nullptr, 10);
  if (pid <= 0) return launch_of_properties(reply->output, unit);
  auto running = adopt_process(pid);
  if (running)
    running->notes.push_back(
        fmt::format("{} runs: taken from its main process {}", base::printable(unit), pid));
  return running;
}

std::vector<std::string> nccl_configuration(const std::vector<std::string>& environment) {
  std::vector<std::string> there, candidates;
  if (const char* file = value_in(environment, "NCCL_CONF_FILE")) {
    candidates.emplace_back(file);
  } else if (const char* home = value_in(environment, "HOME")) {
    candidates.push_back(std::string(home) + "/.nccl.conf");
  }
  candidates.emplace_back("/etc/nccl.conf");
  for (const std::string& path : candidates) {
    const auto reply = os::read_in_child({.path = path, .max_bytes = 64 << 10},
                                         {.end = steady_clock::now() + std::chrono::seconds(1)});
    if (reply.usable() && reply.is_regular) there.push_back(path);
  }
  return there;
}

}  // namespace unhang::cli
