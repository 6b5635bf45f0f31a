// SPDX-License-Identifier: Apache-2.0
#include "cli/launch_look.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstring>
#include <memory>
#include <string_view>

#include <sys/stat.h>
#include <unistd.h>

#include "cli/stop_when_readable.h"
#include "collect/live_capture.h"
#include "collect/ras_addresses.h"
#include "collect/ras_listeners.h"
#include "os/oom_kills.h"

namespace unhang::cli {
namespace {

// In a short look two questions close together leave time for gdb, which comes last.
constexpr std::chrono::seconds kShort{5};
constexpr std::chrono::milliseconds kShortGap{200};
constexpr int kFewSamples = 2;

}  // namespace

const char* value_in(const std::vector<std::string>& environment, std::string_view name) {
  for (const std::string& entry : environment) {
    if (entry.size() > name.size() && entry[name.size()] == '=' && entry.starts_with(name))
      return entry.c_str() + name.size() + 1;
  }
  return nullptr;
}

void set_in(std::vector<std::string>& environment, std::string_view name, std::string_view value) {
  std::string entry = std::string(name) + "=" + std::string(value);
  for (std::string& known : environment) {
    if (known.size() > name.size() && known[name.size()] == '=' && known.starts_with(name)) {
      known = std::move(entry);
      return;
    }
  }
  environment.push_back(std::move(entry));
}

base::Result<collect::CaptureResult> take_look(const LookRequest& request) {
  collect::LiveCaptureRequest live;
  live.folder = request.folder;
  live.budget = request.budget;
  live.pids = request.pids;
  live.ras = request.ask_ras;
  live.trigger_dumps = request.trigger_dumps;
  live.selection.without = request.without;
  live.labels = request.labels;
  live.command = request.command;
  live.engines = request.engines;
  live.native_stacks = request.native_stacks;
  live.proc = request.proc;
  live.tool_version = UNHANG_VERSION;
  if (request.budget < kShort) {
    live.samples = kFewSamples;
    live.interval = kShortGap;
  }
  if (request.once) live.samples = 1;
  live.wake_fd = request.wake_fd;
  for (const std::string& name : collect::capture_variables()) {
    if (const char* value = value_in(request.environment, name)) live.environment.emplace_back(name, value);
  }
  const StopWhenReadable watcher(request.wake_fd, live.stop);
  return collect::capture_live(live);
}

model::BundleCommand command_facts(std::int64_t pid, std::chrono::steady_clock::time_point started,
                                   const std::optional<os::ChildEnd>& end,
                                   const std::optional<std::int64_t>& oom_kills) {
  model::BundleCommand command;
  command.pid = pid;
  command.ran_ms =
      std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - started)
          .count();
  command.ended = end.has_value();
  if (end) {
    command.signal = end->signal;
    if (end->signal == 0) command.status = end->code;
    command.core_dumped = end->core_dumped;
  }
  const auto now = os::count_oom_kills();
  if (now && oom_kills) command.oom_kills = std::max<std::int64_t>(*now - *oom_kills, 0);
  return command;
}

bool ras_is_taken(const std::vector<std::string>& environment) {
  const auto addresses = collect::default_ras_addresses(value_in(environment, "NCCL_RAS_ADDR"));
  if (!addresses) return false;
  const auto table = collect::listening_table("/proc");
  return std::any_of(table.begin(), table.end(), [&](const collect::ListeningSocket& socket) {
    return std::any_of(addresses->begin(), addresses->end(),
                       [&](const net::HostPort& address) { return address.port == socket.port; });
  });
}

std::string free_folder(const std::string& prefix) {
  constexpr int kMost = 1'000'000;
  for (int number = 1; number < kMost; ++number) {
    std::string path = prefix + "-" + std::to_string(number);
    struct stat status {};
    if (::lstat(path.c_str(), &status) != 0) return path;
  }
  return prefix;
}

base::Result<std::string> absolute_path(const std::string& path) {
  if (path.starts_with('/')) return path;
  std::array<char, PATH_MAX> folder{};
  if (::getcwd(folder.data(), folder.size()) == nullptr)
    return base::fail(base::ErrorCode::kIo, std::string("the current folder: ") + std::strerror(errno));
  std::string_view rest = path;
  while (rest.starts_with("./")) rest.remove_prefix(2);
  return std::string(folder.data()) + "/" + std::string(rest);
}

}  // namespace unhang::cli
