// SPDX-License-Identifier: Apache-2.0
//
// For tests only: a TCP server on loopback that plays a script, one thread a connection. The script is a
// function that reads lines and sends what it likes, at the pace it likes; everything ends with the server.
#pragma once

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "net/address.h"
#include "os/file_descriptor.h"

namespace unhang::net {

// One connection, from the server's side.
class ServerTalk {
 public:
  ServerTalk(os::FileDescriptor fd, int stop_fd) : x_fd(std::move(fd)), x_stop_fd(stop_fd) {}

  // Without its line break; nullopt when the client went away or the server is to stop.
  std::optional<std::string> read_line() {
    while (x_in.find('\n') == std::string::npos) {
      char buffer[4096];
      if (!wait(POLLIN, -1)) return std::nullopt;
      const ssize_t got = ::recv(x_fd.get(), buffer, sizeof(buffer), 0);
      if (got <= 0) return std::nullopt;
      x_in.append(buffer, static_cast<std::size_t>(got));
    }
    const std::size_t end = x_in.find('\n');
    std::string line = x_in.substr(0, end);
    x_in.erase(0, end + 1);
    return line;
  }

  // False when nobody takes it any more.
  bool send(std::string_view bytes) {
    while (!bytes.empty()) {
      if (!wait(POLLOUT, -1)) return false;
      const ssize_t sent = ::send(x_fd.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      if (sent < 0 && errno != EAGAIN && errno != EINTR) return false;
      if (sent > 0) bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }

  bool send_in_pieces(std::string_view bytes, std::size_t piece) {
    const int yes = 1;
    (void)::setsockopt(x_fd.get(), IPPROTO_TCP, 1 /* TCP_NODELAY */, &yes, sizeof(yes));
    for (std::size_t at = 0; at < bytes.size(); at += piece) {
      if (!send(bytes.substr(at, piece))) return false;
    }
    return true;
  }

  // Closes with a reset instead of an end.
  void reset() {
    const linger hard{1, 0};
    (void)::setsockopt(x_fd.get(), SOL_SOCKET, SO_LINGER, &hard, sizeof(hard));
    x_fd.close();
  }

  // Ends one direction only: SHUT_RD or SHUT_WR.
  void shut(int direction) { (void)::shutdown(x_fd.get(), direction); }

  // Says nothing for that long (-1: until the client goes or the server stops). False when it is over.
  bool pause(int milliseconds) { return !wait(POLLRDHUP, milliseconds) && !x_over; }

 private:
  // True when the socket is ready; false after the time, or when the server is to stop.
  bool wait(short events, int milliseconds) {
    pollfd watched[2] = {{x_fd.get(), events, 0}, {x_stop_fd, POLLIN, 0}};
    const int ready = ::poll(watched, 2, milliseconds);
    if (ready > 0 && watched[1].revents != 0) {
      x_over = true;
      return false;
    }
    return ready > 0;
  }

  os::FileDescriptor x_fd;
  int x_stop_fd;
  std::string x_in;
  bool x_over = false;
};

class ScriptedServer {
 public:
  using Script = std::function<void(ServerTalk&)>;
  struct Options {
    bool ipv6 = false;
    bool shares_port = false;  // SO_REUSEPORT, as NCCL has it
    std::uint16_t port = 0;    // 0: any that is free
  };

  ScriptedServer(Script script, Options options) : x_script(std::move(script)) {
    int ends[2] = {-1, -1};
    if (::pipe(ends) != 0) return;
    x_stop_read = os::FileDescriptor(ends[0]);
    x_stop_write = os::FileDescriptor(ends[1]);
    listen(options);
    if (x_listener.valid()) x_thread = std::thread([this] { accept_all(); });
  }
  explicit ScriptedServer(Script script) : ScriptedServer(std::move(script), Options()) {}

  ~ScriptedServer() {
    x_stop_write.close();  // every poll() on the other end wakes up
    if (x_thread.joinable()) x_thread.join();
    for (std::thread& talk : x_talks) talk.join();
  }
  ScriptedServer(const ScriptedServer&) = delete;
  ScriptedServer& operator=(const ScriptedServer&) = delete;

  bool valid() const { return x_listener.valid(); }  // false: no IPv6 on this machine …
  std::uint16_t port() const { return x_port; }
  int connections() const { return x_connections.load(); }

 private:
  void listen(const Options& options) {
    os::FileDescriptor fd(::socket(options.ipv6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const int yes = 1;
    (void)::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
    if (options.shares_port) (void)::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEPORT, &yes, sizeof(yes));
    sockaddr_in v4 = {};
    v4.sin_family = AF_INET;
    v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    v4.sin_port = htons(options.port);
    sockaddr_in6 v6 = {};
    v6.sin6_family = AF_INET6;
    v6.sin6_addr = in6addr_loopback;
    v6.sin6_port = htons(options.port);
    const auto* address =
        options.ipv6 ? reinterpret_cast<const sockaddr*>(&v6) : reinterpret_cast<const sockaddr*>(&v4);
    const socklen_t size = options.ipv6 ? sizeof(v6) : sizeof(v4);
    if (::bind(fd.get(), address, size) != 0 || ::listen(fd.get(), 1024) != 0) return;
    sockaddr_storage bound = {};
    socklen_t bound_size = sizeof(bound);
    if (::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&bound), &bound_size) != 0) return;
    x_port = SocketAddress(reinterpret_cast<sockaddr*>(&bound), bound_size).port();
    x_listener = std::move(fd);
  }

  void accept_all() {
    while (true) {
      pollfd watched[2] = {{x_listener.get(), POLLIN, 0}, {x_stop_read.get(), POLLIN, 0}};
      if (::poll(watched, 2, -1) < 0) continue;
      if (watched[1].revents != 0) return;
      os::FileDescriptor fd(::accept4(x_listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
      if (!fd.valid()) continue;
      ++x_connections;
      x_talks.emplace_back([this, held = std::make_shared<os::FileDescriptor>(std::move(fd))] {
        ServerTalk talk(std::move(*held), x_stop_read.get());
        x_script(talk);
      });
    }
  }

  Script x_script;
  os::FileDescriptor x_listener, x_stop_read, x_stop_write;
  std::uint16_t x_port = 0;
  std::atomic<int> x_connections{0};
  std::thread x_thread;
  std::vector<std::thread> x_talks;
};

// A port of 127.0.0.1 on which nobody listens.
inline std::uint16_t closed_port() {
  const ScriptedServer gone([](ServerTalk&) {});
  return gone.port();
}

}  // namespace unhang::net
