// SPDX-License-Identifier: Apache-2.0
#include "os/descendants.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <optional>
#include <string_view>
#include <unordered_map>

#include <dirent.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "os/file_descriptor.h"

namespace unhang::os {
namespace {

constexpr std::size_t kMaxProcesses = 100'000;

// "77 (a name) S 12 …": the name may hold anything, also brackets and blanks.
std::optional<Descendant> parse_stat(std::string_view text) {
  const std::size_t open = text.find('('), close = text.rfind(')');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open ||
      close + 2 >= text.size())
    return std::nullopt;
  Descendant found;
  std::from_chars(text.data(), text.data() + open, found.pid);
  found.name = text.substr(open + 1, close - open - 1);
  constexpr int kState = 3, kParent = 4, kStarted = 22;
  std::string_view rest = text.substr(close + 2);
  for (int field = kState; field <= kStarted; ++field) {
    const std::size_t end = std::min(rest.find(' '), rest.size());
    const std::string_view piece = rest.substr(0, end);
    if (piece.empty()) return std::nullopt;
    if (field == kState) found.state = piece.front();
    if (field == kParent) std::from_chars(piece.data(), piece.data() + piece.size(), found.parent);
    if (field == kStarted) std::from_chars(piece.data(), piece.data() + piece.size(), found.started);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return found;
}

std::optional<Descendant> read_stat(int proc, const char* pid) {
  std::array<char, 32> path{};
  const std::string_view name(pid);
  if (name.size() > 20) return std::nullopt;
  std::copy(name.begin(), name.end(), path.begin());
  constexpr std::string_view kStat = "/stat";
  std::copy(kStat.begin(), kStat.end(), path.begin() + static_cast<std::ptrdiff_t>(name.size()));
  const FileDescriptor file(::openat(proc, path.data(), O_RDONLY | O_CLOEXEC));
  std::array<char, 1024> bytes;
  const ssize_t got = file.valid() ? ::read(file.get(), bytes.data(), bytes.size()) : -1;
  if (got <= 0) return std::nullopt;
  return parse_stat({bytes.data(), static_cast<std::size_t>(got)});
}

std::vector<Descendant> all_processes(const std::string& proc) {
  std::vector<Descendant> all;
  DIR* folder = ::opendir(proc.c_str());
  if (folder == nullptr) return all;
  while (const dirent* entry = ::readdir(folder)) {
    if (entry->d_name[0] < '1' || entry->d_name[0] > '9' || all.size() >= kMaxProcesses) continue;
    if (auto found = read_stat(::dirfd(folder), entry->d_name)) all.push_back(std::move(*found));
  }
  ::closedir(folder);
  return all;
}

}  // namespace

bool become_subreaper() {
  return ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0;
}

std::vector<Descendant> descendants_of(std::int64_t root, const std::string& proc) {
  const std::vector<Descendant> all = all_processes(proc);
  std::unordered_multimap<std::int64_t, const Descendant*> children;
  for (const Descendant& process : all) {
    if (process.pid != process.parent) children.emplace(process.parent, &process);
  }
  std::vector<Descendant> below;
  std::vector<std::int64_t> open{root};
  // While the list was read, ids may have been given away again: a circle is possible, an endless loop is
  // not.
  while (!open.empty() && below.size() < all.size()) {
    const std::int64_t parent = open.back();
    open.pop_back();
    const auto [first, last] = children.equal_range(parent);
    for (auto child = first; child != last; ++child) {
      if (child->second->pid == root) continue;
      below.push_back(*child->second);
      open.push_back(child->second->pid);
    }
  }
  std::sort(below.begin(), below.end(), [](const auto& a, const auto& b) { return a.pid < b.pid; });
  return below;
}

bool send_signal(const Descendant& process, int number) {
  const auto pid = static_cast<pid_t>(process.pid);
  const FileDescriptor handle(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  // With a handle, what is read now is of the process that the signal will go to.
  const FileDescriptor proc(::open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC));
  const auto now = proc.valid() ? read_stat(proc.get(), std::to_string(process.pid).c_str()) : std::nullopt;
  if (!now || now->started != process.started) return false;
  if (handle.valid()) {
    if (::syscall(SYS_pidfd_send_signal, handle.get(), number, nullptr, 0) == 0) return true;
    if (errno != ENOSYS && errno != EPERM) return false;
  }
  return ::kill(pid, number) == 0;
}

}  // namespace unhang::os
