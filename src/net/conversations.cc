// SPDX-License-Identifier: Apache-2.0
#include "net/conversations.h"

#include <algorithm>
#include <cerrno>

#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include "net/socket_error.h"

namespace unhang::net {
namespace {

constexpr std::size_t kBufferBytes = std::size_t{64} << 10;

}  // namespace

struct Conversations::Socket {
  Call call;
  os::FileDescriptor fd;
  bool connected = false;
  bool ended = false;
  bool can_send = true;  // false: the other side reads no more, but may have said something
  std::string out;       // to be sent, but for the first `sent` bytes
  std::size_t sent = 0;
  std::size_t received = 0;
};

Conversations::Conversations() : x_buffer(std::make_unique<char[]>(kBufferBytes)) {}
Conversations::~Conversations() = default;

void Conversations::start(Call call) {
  x_waiting.push_back(call);
}

void Conversations::after(const Deadline& when, std::function<void()> call) {
  x_timers.push_back({when, std::move(call)});
}

void Conversations::call_timers() {
  std::vector<Timer> due;
  for (std::size_t i = 0; i < x_timers.size();) {
    if (x_timers[i].when.passed()) {
      due.push_back(std::move(x_timers[i]));
      x_timers.erase(x_timers.begin() + static_cast<std::ptrdiff_t>(i));
    } else {
      ++i;
    }
  }
  for (const Timer& timer : due) timer.call();  // may add others
}

void Conversations::finish(Socket& socket, EndKind kind, const std::string& what) {
  if (socket.ended) return;
  socket.ended = true;
  socket.fd.close();
  const std::string doing = socket.connected ? "" : "connect to ";
  const std::string text =
      what.empty() ? "" : fmt::format("{}{}: {}", doing, socket.call.address.text(), what);
  socket.call.conversation->on_end({kind, socket.connected, text});
}

void Conversations::obey(Socket& socket, Step step) {
  if (step.deadline) socket.call.deadline = *step.deadline;
  if (step.done) return finish(socket, EndKind::kDone, "");
  if (step.send.empty() || !socket.can_send) return;
  socket.out += step.send;
  send(socket);
}

void Conversations::connect_waiting() {
  for (std::size_t left = x_waiting.size(); left > 0; --left) {
    Call call = x_waiting.front();
    x_waiting.pop_front();
    os::FileDescriptor fd(
        ::socket(call.address.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_TCP));
    const int error = fd.valid() ? 0 : errno;
    if ((error == EMFILE || error == ENFILE) && !x_sockets.empty()) {
      x_waiting.push_front(call);
      return;
    }
    auto socket = std::make_unique<Socket>();
    socket->call = call;
    socket->fd = std::move(fd);
    x_sockets.push_back(std::move(socket));
    Socket& added = *x_sockets.back();
    if (error != 0) {
      finish(added, EndKind::kConnectFailed, error_text(error));
      continue;
    }
    const int yes = 1;  // requests are one line each and wait for an answer
    (void)::setsockopt(added.fd.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
    const int connecting = ::connect(added.fd.get(), added.call.address.get(), added.call.address.size());
    if (connecting == 0) {
      connected(added);
    } else if (errno != EINPROGRESS && errno != EINTR) {
      finish(added, EndKind::kConnectFailed, error_text(errno));
    }
  }
}

void Conversations::connected(Socket& socket) {
  socket.connected = true;
  obey(socket, socket.call.conversation->on_connected());
}

void Conversations::send(Socket& socket) {
  while (socket.sent < socket.out.size()) {
    const ssize_t sent = ::send(socket.fd.get(), socket.out.data() + socket.sent,
                                socket.out.size() - socket.sent, MSG_NOSIGNAL);
    if (sent >= 0) {
      socket.sent += static_cast<std::size_t>(sent);
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      return;
    } else if (errno != EINTR) {
      // What the other side said before it went is still to be read; the end of it shows there.
      socket.can_send = false;
      break;
    }
  }
  socket.out.clear();
  socket.sent = 0;
}

void Conversations::receive(Socket& socket) {
  const ssize_t got = ::recv(socket.fd.get(), x_buffer.get(), kBufferBytes, 0);
  if (got == 0) return finish(socket, EndKind::kClosed, "the other side closed the connection");
  if (got < 0) {
    if (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR) return;
    return finish(socket, EndKind::kBroken, error_text(errno));
  }
  const auto count = static_cast<std::size_t>(got);
  const std::size_t room = socket.call.max_bytes - socket.received;
  socket.received += std::min(count, room);
  if (room > 0) {
    obey(socket, socket.call.conversation->on_bytes({x_buffer.get(), std::min(count, room)}));
  }
  if (count > room && !socket.ended) {
    finish(socket, EndKind::kTooMuch, fmt::format("cut off after {} bytes", socket.call.max_bytes));
  }
}

void Conversations::end_all(EndKind kind, const std::string& what) {
  // Indices: an on_end() that starts another conversation only appends to x_waiting.
  for (std::size_t i = 0; i < x_sockets.size(); ++i) finish(*x_sockets[i], kind, what);
  x_sockets.clear();
  for (std::size_t left = x_waiting.size(); left > 0; --left) {
    Socket never_opened;
    never_opened.call = x_waiting.front();
    x_waiting.pop_front();
    finish(never_opened, kind, what);
  }
  x_waiting.clear();
  x_timers.clear();
}

void Conversations::end_late() {
  for (const auto& socket : x_sockets) {
    if (socket->ended || !socket->call.deadline.passed()) continue;
    finish(*socket, EndKind::kDeadline, socket->connected ? "no answer before the deadline" : "timed out");
  }
}

int Conversations::wait_milliseconds(const Deadline& deadline) const {
  Deadline next = deadline;
  for (const auto& socket : x_sockets) next = next.or_sooner(socket->call.deadline);
  for (const Timer& timer : x_timers) next = next.or_sooner(timer.when);
  return next.poll_milliseconds();
}

void Conversations::run(const Deadline& deadline, int wake_fd) {
  std::vector<pollfd> watched;
  while (true) {
    end_late();
    x_sockets.erase(std::remove_if(x_sockets.begin(), x_sockets.end(),
                                   [](const std::unique_ptr<Socket>& socket) { return socket->ended; }),
                    x_sockets.end());
    if (deadline.passed()) return end_all(EndKind::kDeadline, "no answer before the deadline");
    call_timers();
    connect_waiting();
    if (x_sockets.empty() && x_waiting.empty() && x_timers.empty()) return;

    watched.clear();
    for (const auto& socket : x_sockets) {
      const bool wants_out = !socket->connected || !socket->out.empty();
      const int events = (socket->connected ? POLLIN : 0) | (wants_out ? POLLOUT : 0);
      // An ended one (just now, in connect_waiting) has no descriptor: poll ignores it.
      watched.push_back({socket->ended ? -1 : socket->fd.get(), static_cast<short>(events), 0});
    }
    const bool any_ended = std::any_of(x_sockets.begin(), x_sockets.end(),
                                       [](const std::unique_ptr<Socket>& socket) { return socket->ended; });
    watched.push_back({wake_fd, POLLIN, 0});
    ++x_rounds;
    const int ready = ::poll(watched.data(), watched.size(), any_ended ? 0 : wait_milliseconds(deadline));
    if (watched.back().revents != 0) return end_all(EndKind::kCancelled, "interrupted");
    if (ready <= 0) continue;  // time, or a signal
    for (std::size_t i = 0; i + 1 < watched.size(); ++i) {
      Socket& socket = *x_sockets[i];
      if (watched[i].revents == 0 || socket.ended) continue;
      if (!socket.connected) {
        int error = 0;
        socklen_t size = sizeof(error);
        if (::getsockopt(socket.fd.get(), SOL_SOCKET, SO_ERROR, &error, &size) != 0) error = errno;
        if (error != 0) {
          finish(socket, EndKind::kConnectFailed, error_text(error));
        } else {
          connected(socket);
        }
        continue;
      }
      if ((watched[i].revents & POLLOUT) != 0) send(socket);
      if ((watched[i].revents & (POLLIN | POLLHUP | POLLERR)) != 0) receive(socket);
    }
  }
}

bool is_woken(int wake_fd) {
  pollfd watched{wake_fd, POLLIN, 0};
  return ::poll(&watched, 1, 0) > 0;
}

}  // namespace unhang::net
