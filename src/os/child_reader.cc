// SPDX-License-Identifier: Apache-2.0
#include "os/child_reader.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <system_error>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/child_side.h"
#include "os/file_descriptor.h"

namespace unhang::os {
namespace {

using Clock = std::chrono::steady_clock;

// A machine with more stuck processes than this is not examined further: each costs a child that may never
// end.
constexpr unsigned kMaxAbandoned = 8;

class Child {
 public:
  // False: errno says why there is none.
  bool start(std::span<const ReadRequest> requests) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return false;
    FileDescriptor write_end(ends[1]);
    x_pipe = FileDescriptor(ends[0]);
    // No handler of the program may run in the child.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    x_pid = ::fork();
    if (x_pid == 0) run_child(requests, write_end.get());
    const int error = errno;
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    errno = error;
    return x_pid > 0;
  }

  int pipe() const { return x_pipe.get(); }

  // After its pipe has ended.
  void wait() {
    x_pipe.close();
    while (::waitpid(x_pid, nullptr, 0) < 0 && errno == EINTR) {
    }
  }

  // It may be stuck in the kernel, where not even SIGKILL reaches it before whatever it waits for has ended.
  void abandon() {
    x_pipe.close();
    ::kill(x_pid, SIGKILL);
    constexpr int kTries = 20;
    for (int i = 0; i < kTries; ++i) {
      if (::waitpid(x_pid, nullptr, WNOHANG) != 0) return;
      ::usleep(1000);
    }
    std::thread([pid = x_pid] {
      while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
      }
    }).detach();
  }

 private:
  pid_t x_pid = -1;
  FileDescriptor x_pipe;
};

class Reading {
 public:
  Reading(std::span<const ReadRequest> requests, const ReadDeadlines& deadlines, const OnPiece& on_piece,
          const OnReply& on_reply)
      : x_requests(requests), x_deadlines(deadlines), x_on_piece(on_piece), x_on_reply(on_reply) {}

  void run() {
    unsigned abandoned = 0;
    while (x_next < x_requests.size()) {
      Child child;
      if (abandoned >= kMaxAbandoned || Clock::now() >= x_deadlines.end) {
        reply_all(ReadEnd::kNotTried, 0);
      } else if (!child.start(x_requests.subspan(x_next))) {
        reply_all(ReadEnd::kFailed, errno);
      } else if (const ReadEnd end = serve(child); end == ReadEnd::kWhole) {
        child.wait();
      } else {
        child.abandon();
        ++abandoned;
        give_up_group(end);
      }
    }
  }

 private:
  void reply(ReadReply what) { x_on_reply(x_next++, std::move(what)); }

  void reply_all(ReadEnd end, int error) {
    while (x_next < x_requests.size()) reply({.end = end, .error = error});
  }

  void give_up_group(ReadEnd end) {
    if (x_next >= x_requests.size()) return;
    const std::size_t group = x_requests[x_next].group;
    reply({.end = end});
    while (x_next < x_requests.size() && x_requests[x_next].group == group)
      reply({.end = ReadEnd::kNotTried});
  }

  // kWhole: the pipe has ended. kStuck, kNotTried: no more is waited for.
  ReadEnd serve(Child& child) {
    x_buffer.clear();
    for (;;) {
      const auto now = Clock::now();
      if (now >= x_deadlines.end) return ReadEnd::kNotTried;
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(x_deadlines.end - now);
      const auto wait = std::min<std::int64_t>(x_deadlines.still.count(), left.count());
      pollfd ready{child.pipe(), POLLIN, 0};
      const int polled = ::poll(&ready, 1, static_cast<int>(wait));
      if (polled < 0 && errno == EINTR) continue;
      if (polled == 0) return Clock::now() >= x_deadlines.end ? ReadEnd::kNotTried : ReadEnd::kStuck;
      const std::size_t used = x_buffer.size();
      x_buffer.resize(used + kChildPieceBytes);
      const ssize_t got = ::read(child.pipe(), x_buffer.data() + used, kChildPieceBytes);
      x_buffer.resize(used + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) break;
      take_frames();
    }
    // A child that was killed (out of memory) costs the request it was at, and no other.
    if (x_next < x_requests.size()) reply({.end = ReadEnd::kFailed, .error = EIO});
    return ReadEnd::kWhole;
  }

  void take_frames() {
    std::size_t at = 0;
    ChildFrame frame;
    while (x_buffer.size() - at >= sizeof frame && x_next < x_requests.size()) {
      std::memcpy(&frame, x_buffer.data() + at, sizeof frame);
      if (x_buffer.size() - at - sizeof frame < frame.length) break;
      at += sizeof frame;
      if (frame.is_reply == 0) {
        x_on_piece(x_next, std::string_view(x_buffer).substr(at, frame.length));
      } else {
        const ReadEnd end = frame.error != 0 ? ReadEnd::kFailed
                            : frame.cut != 0 ? ReadEnd::kCut
                                             : ReadEnd::kWhole;
        reply({.end = end,
               .error = frame.error,
               .is_regular = frame.is_regular != 0,
               .size = frame.size,
               .modified_ns = frame.modified_ns,
               .device = frame.device,
               .inode = frame.inode,
               .owner = frame.owner});
      }
      at += frame.length;
    }
    x_buffer.erase(0, at);
  }

  std::span<const ReadRequest> x_requests;
  ReadDeadlines x_deadlines;
  const OnPiece& x_on_piece;
  const OnReply& x_on_reply;
  std::size_t x_next = 0;
  std::string x_buffer;
};

}  // namespace

void read_in_child(std::span<const ReadRequest> requests, const ReadDeadlines& deadlines,
                   const OnPiece& on_piece, const OnReply& on_reply) {
  Reading(requests, deadlines, on_piece, on_reply).run();
}

std::vector<ReadReply> read_in_child(std::span<const ReadRequest> requests, const ReadDeadlines& deadlines) {
  std::vector<ReadReply> replies;
  std::string bytes;
  read_in_child(
      requests, deadlines, [&](std::size_t, std::string_view piece) { bytes += piece; },
      [&](std::size_t, ReadReply reply) {
        reply.bytes = std::exchange(bytes, std::string());
        replies.push_back(std::move(reply));
      });
  return replies;
}

ReadReply read_in_child(const ReadRequest& request, const ReadDeadlines& deadlines) {
  return std::move(read_in_child(std::span(&request, 1), deadlines).front());
}

std::string reason_text(const ReadReply& reply) {
  switch (reply.end) {
    case ReadEnd::kWhole:
      return {};
    case ReadEnd::kCut:
      return "larger than the limit";
    case ReadEnd::kFailed:
      return std::generic_category().message(reply.error);
    case ReadEnd::kStuck:
      return "reading it stood still and was given up";
    case ReadEnd::kNotTried:
      return "not tried: no time was left, or what belongs to it stood still";
  }
  return {};
}

}  // namespace unhang::os
