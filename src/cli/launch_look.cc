// SPDX-License-Identifier: Apache-2.0
#include "cli/launch_look.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstring>
#include <memory>
#include <string_view>
#include <thread>

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collect/live_capture.h"
#include "collect/ras_addresses.h"
#include "collect/ras_listeners.h"
#include "os/file_descriptor.h"

namespace unhang::cli {
namespace {

// In a short look two questions close together leave time for gdb, which comes last.
constexpr std::chrono::seconds kShort{5};
constexpr std::chrono::milliseconds kShortGap{200};
constexpr int kFewSamples = 2;

// Asks the capture to stop when the descriptor becomes readable; ends with its life.
class StopWhenReadable {
 public:
  StopWhenReadable(int fd, std::shared_ptr<collect::CaptureStop> stop) {
    int ends[2];
    if (fd < 0 || ::pipe2(ends, O_CLOEXEC) != 0) return;
    x_ended = os::FileDescriptor(ends[0]);
    x_end = os::FileDescriptor(ends[1]);
    x_thread = std::thread([fds = std::array<pollfd, 2>{{{fd, POLLIN, 0}, {ends[0], POLLIN, 0}}},
                            stop = std::move(stop)]() mutable {
      while (::poll(fds.data(), fds.size(), -1) < 0) {
      }
      if (fds[0].revents != 0) stop->request();
    });
  }
  ~StopWhenReadable() {
    x_end.close();
    if (x_thread.joinable()) x_thread.join();
  }
  StopWhenReadable(const StopWhenReadable&) = delete;
  StopWhenReadable& operator=(const StopWhenReadable&) = delete;

 private:
  os::FileDescriptor x_ended, x_end;
  std::thread x_thread;
};

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
  live.engines = request.engines;
  live.native_stacks = request.native_stacks;
  live.proc = request.proc;
  live.tool_version = UNHANG_VERSION;
  if (request.budget < kShort) {
    live.samples = kFewSamples;
    live.interval = kShortGap;
  }
  live.wake_fd = request.wake_fd;
  for (const std::string& name : collect::capture_variables()) {
    if (const char* value = value_in(request.environment, name)) live.environment.emplace_back(name, value);
  }
  const StopWhenReadable watcher(request.wake_fd, live.stop);
  return collect::capture_live(live);
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
    const std::string path = prefix + "-" + std::to_string(number);
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
