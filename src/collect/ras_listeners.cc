// SPDX-License-Identifier: Apache-2.0
#include "collect/ras_listeners.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

#include "net/abandonable_call.h"

namespace unhang::collect {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxTableBytes = std::size_t{64} << 20;
constexpr std::size_t kMaxMapsBytes = std::size_t{16} << 20;
constexpr std::uint64_t kMaxLibraryBytes = std::uint64_t{1} << 30;
constexpr std::size_t kMaxReleasesLookedUp = 64;  // processes of one job run one release
constexpr std::string_view kListening = "0A";     // TCP_LISTEN of the kernel
constexpr std::string_view kListeningColumn = " 0A ";

// Calls on_line for each line of a file, of at most `most` bytes in all.
template <class OnLine>
void each_line(const std::string& path, std::size_t most, OnLine on_line) {
  std::ifstream file(path);
  std::string line;
  for (std::size_t seen = 0; seen < most && std::getline(file, line); seen += line.size() + 1) on_line(line);
}

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  for (std::size_t at = line.find_first_not_of(' '); at != std::string_view::npos;) {
    const std::size_t end = std::min(line.find(' ', at), line.size());
    words.push_back(line.substr(at, end - at));
    at = line.find_first_not_of(' ', end);
  }
  return words;
}

// "0100007F" or 32 digits: words of 32 bits, each in the byte order of the machine (little-endian here).
std::string ip_of_hex(std::string_view hex) {
  std::string bytes;
  for (std::size_t word = 0; word + 8 <= hex.size(); word += 8) {
    for (int byte = 3; byte >= 0; --byte) {
      unsigned value = 0;
      const char* at = hex.data() + word + 2 * static_cast<std::size_t>(byte);
      (void)std::from_chars(at, at + 2, value, 16);
      bytes += static_cast<char>(value);
    }
  }
  const std::string mapped = std::string(10, '\0') + "\xff\xff";
  return bytes.size() == 16 && bytes.compare(0, 12, mapped) == 0 ? bytes.substr(12) : bytes;
}

bool is_zero(const std::string& ip) {
  return std::all_of(ip.begin(), ip.end(), [](char byte) { return byte == 0; });
}

// Would a connection to `asked` reach a socket that listens on `bound`? On all addresses of the machine only
// where it is certain that the asked one is of this machine.
bool reaches(const net::SocketAddress& asked, const std::string& bound) {
  if (is_zero(bound)) {
    // "::" takes IPv4 as well, "0.0.0.0" takes no IPv6.
    const bool family_fits = bound.size() == 16 || asked.ip_bytes().size() == 4;
    return family_fits && (asked.is_loopback() || asked.is_any());
  }
  if (asked.is_any()) return bound.size() == asked.ip_bytes().size();
  return asked.ip_bytes() == bound;
}

std::optional<std::int64_t> pid_of(const std::string& name) {
  std::int64_t pid = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), pid);
  if (error != std::errc() || end != name.data() + name.size()) return std::nullopt;
  return pid;
}

// The process that holds each of the sockets, where that may be seen. A socket that a child inherited has the
// lowest pid of them.
std::map<std::string, std::int64_t> holders(const std::set<std::string>& inodes,
                                            const std::string& proc_root) {
  std::map<std::string, std::int64_t> found;
  std::error_code ignored;
  for (fs::directory_iterator process(proc_root, ignored), end; !ignored && process != end;
       process.increment(ignored)) {
    const auto pid = pid_of(process->path().filename().string());
    if (!pid) continue;
    std::error_code unreadable;
    for (fs::directory_iterator fd(process->path() / "fd", unreadable); !unreadable && fd != end;
         fd.increment(unreadable)) {
      std::error_code gone;
      const std::string target = fs::read_symlink(fd->path(), gone).string();
      if (gone || target.compare(0, 8, "socket:[") != 0) continue;
      const std::string inode = target.substr(8, target.size() - 9);
      if (inodes.count(inode) == 0) continue;
      const auto [at, added] = found.emplace(inode, *pid);
      if (!added) at->second = std::min(at->second, *pid);
    }
  }
  return found;
}

// The libraries that NCCL may be in: its own first, then a PyTorch into which it was linked.
std::vector<std::string> nccl_files(const std::string& process) {
  std::vector<std::string> own, linked;
  each_line(process + "/maps", kMaxMapsBytes, [&](const std::string& line) {
    const std::size_t slash = line.find('/');
    if (slash == std::string::npos) return;
    const std::string path = line.substr(slash);
    const std::string name = path.substr(path.rfind('/') + 1);
    auto& list = name.compare(0, 10, "libnccl.so") == 0 ? own : linked;
    const bool wanted = &list == &own || name.compare(0, 16, "libtorch_cuda.so") == 0;
    if (wanted && (list.empty() || list.back() != path)) list.push_back(path);
  });
  own.insert(own.end(), linked.begin(), linked.end());
  return own;
}

std::optional<NcclRelease> release_in_file(const std::string& path) {
  constexpr std::size_t kBlock = std::size_t{1} << 20;
  constexpr std::size_t kOverlap = 64;  // longer than what is looked for
  std::ifstream file(path, std::ios::binary);
  std::string block;
  for (std::uint64_t read = 0; file && read < kMaxLibraryBytes; read += kBlock) {
    block.erase(0, block.size() - std::min(block.size(), kOverlap));
    const std::size_t kept = block.size();
    block.resize(kept + kBlock);
    file.read(block.data() + kept, kBlock);
    block.resize(kept + static_cast<std::size_t>(file.gcount()));
    if (const auto release = release_in_bytes(block)) return release;
  }
  return std::nullopt;
}

void find_release(RasListener& listener, const std::string& proc_root,
                  std::map<std::string, std::optional<NcclRelease>>& known) {
  const std::string process = fmt::format("{}/{}", proc_root, listener.pid);
  for (const std::string& path : nccl_files(process)) {
    auto at = known.find(path);
    if (at == known.end()) {
      auto release = release_of_library_name(path);
      // The path is that of the process, which may live in a container.
      if (!release) release = release_in_file(process + "/root" + path);
      at = known.emplace(path, release).first;
    }
    if (!at->second) continue;
    listener.release = at->second;
    listener.library = path;
    return;
  }
}

}  // namespace

std::vector<ListeningSocket> listening_table(const std::string& proc_root) {
  std::vector<ListeningSocket> sockets;
  for (const char* table : {"/net/tcp", "/net/tcp6"}) {
    each_line(proc_root + table, kMaxTableBytes, [&](const std::string& line) {
      if (line.find(kListeningColumn) == std::string::npos) return;  // most sockets do not listen
      // sl local_address rem_address st tx:rx tr:tm retrnsmt uid timeout inode …
      const auto words = words_of(line);
      if (words.size() < 10 || words[3] != kListening) return;
      const std::size_t colon = words[1].find(':');
      if (colon == std::string_view::npos) return;
      std::uint16_t port = 0;
      const std::string_view digits = words[1].substr(colon + 1);
      (void)std::from_chars(digits.data(), digits.data() + digits.size(), port, 16);
      sockets.push_back({ip_of_hex(words[1].substr(0, colon)), port, std::string(words[9])});
    });
  }
  return sockets;
}

std::set<std::string> sockets_behind(const std::vector<net::SocketAddress>& addresses,
                                     const std::vector<ListeningSocket>& sockets) {
  std::set<std::string> names;
  for (const ListeningSocket& socket : sockets) {
    for (const net::SocketAddress& asked : addresses) {
      if (asked.port() == socket.port && reaches(asked, socket.ip)) names.insert(socket.name);
    }
  }
  return names;
}

std::set<std::string> listening_sockets(const std::vector<net::SocketAddress>& addresses,
                                        const std::string& proc_root) {
  return sockets_behind(addresses, listening_table(proc_root));
}

std::vector<RasListener> find_listeners(const std::set<std::string>& sockets, const std::string& proc_root) {
  std::vector<RasListener> listeners;
  if (sockets.empty()) return listeners;
  const auto pids = holders(sockets, proc_root);
  for (const std::string& socket : sockets) {
    const auto at = pids.find(socket);
    listeners.push_back({at == pids.end() ? -1 : at->second, socket, std::nullopt, ""});
  }
  std::sort(listeners.begin(), listeners.end(),
            [](const RasListener& a, const RasListener& b) { return a.pid < b.pid; });
  return listeners;
}

std::vector<RasListener> find_releases(std::vector<RasListener> listeners, const std::string& proc_root,
                                       const net::Deadline& deadline) {
  const std::size_t count = std::min(listeners.size(), kMaxReleasesLookedUp);
  std::map<std::string, std::optional<NcclRelease>> known;
  for (std::size_t i = 0; i < count && !deadline.passed(); ++i) {
    if (listeners[i].pid < 0) continue;
    if (i > 0 && listeners[i - 1].pid == listeners[i].pid) {  // they are in the order of their processes
      listeners[i].release = listeners[i - 1].release;
      listeners[i].library = listeners[i - 1].library;
      continue;
    }
    struct Work {
      RasListener listener;
      std::map<std::string, std::optional<NcclRelease>> known;
    };
    auto done = net::call_until<Work>(deadline, [listener = listeners[i], proc_root, known] {
      Work work{listener, known};
      find_release(work.listener, proc_root, work.known);
      return work;
    });
    if (!done) break;
    listeners[i] = std::move(done->listener);
    known = std::move(done->known);
  }
  return listeners;
}

}  // namespace unhang::collect
