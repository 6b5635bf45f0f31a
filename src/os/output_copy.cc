// SPDX-License-Identifier: Apache-2.0
#include "os/output_copy.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

namespace unhang::os {
namespace {

constexpr int kPipeBytes = 1 << 20;
constexpr std::size_t kReadBytes = 256 << 10;
// After a reading that brought less than this, a short rest: meanwhile more comes together.
constexpr std::size_t kWorthReading = 128 << 10;
constexpr int kRestMs = 10;

// A terminal that passes bytes on as they are: our own translates line ends already.
bool open_terminal(FileDescriptor& master, FileDescriptor& slave) {
  master = FileDescriptor(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
  std::array<char, 128> name{};
  if (!master.valid() || ::grantpt(master.get()) != 0 || ::unlockpt(master.get()) != 0 ||
      ::ptsname_r(master.get(), name.data(), name.size()) != 0)
    return false;
  slave = FileDescriptor(::open(name.data(), O_RDWR | O_NOCTTY | O_CLOEXEC));
  termios modes{};
  if (!slave.valid() || ::tcgetattr(slave.get(), &modes) != 0) return false;
  modes.c_oflag &= ~static_cast<tcflag_t>(OPOST);
  return ::tcsetattr(slave.get(), TCSANOW, &modes) == 0;
}

base::Error no_pipe() {
  return {base::ErrorCode::kIo, std::string("the output cannot be passed on: ") + std::strerror(errno)};
}

}  // namespace

base::Result<std::unique_ptr<OutputCopy>> OutputCopy::make(int to) {
  std::unique_ptr<OutputCopy> copy(new OutputCopy(to));
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC) != 0) return base::fail(no_pipe());
  copy->x_stop_read = FileDescriptor(ends[0]);
  copy->x_stop_write = FileDescriptor(ends[1]);
  copy->x_is_terminal = ::isatty(to) == 1 && open_terminal(copy->x_read_end, copy->x_child_end);
  if (copy->x_is_terminal) {
    copy->take_window_size();
  } else {
    if (::pipe2(ends, O_CLOEXEC) != 0) return base::fail(no_pipe());
    copy->x_read_end = FileDescriptor(ends[0]);
    copy->x_child_end = FileDescriptor(ends[1]);
    ::fcntl(ends[1], F_SETPIPE_SZ, kPipeBytes);  // refused beyond a user's share: then it stays small
  }
  // Only we read from it: the flag disturbs nobody.
  ::fcntl(copy->x_read_end.get(), F_SETFL, O_NONBLOCK);
  struct stat status {};
  copy->x_write_to = to;
  copy->x_piece = SIZE_MAX;
  if (::fstat(to, &status) == 0 && (S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode))) {
    // O_NONBLOCK belongs to what others share with us; the same pipe, opened again, is ours alone.
    const std::string path = "/proc/self/fd/" + std::to_string(to);
    copy->x_reopened = FileDescriptor(::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC));
    if (copy->x_reopened.valid()) {
      copy->x_write_to = copy->x_reopened.get();
    } else {
      copy->x_piece = PIPE_BUF;
    }
  }
  return copy;
}

OutputCopy::~OutputCopy() {
  x_stopping = true;
  x_stop_write.close();
  if (x_thread.joinable()) x_thread.join();
}

void OutputCopy::start() {
  x_child_end.close();
  x_thread = std::thread([this] {
    run();
    x_read_end.close();
    x_finished = true;
  });
}

void OutputCopy::take_window_size() {
  winsize size{};
  if (x_is_terminal && ::ioctl(x_to, TIOCGWINSZ, &size) == 0) ::ioctl(x_read_end.get(), TIOCSWINSZ, &size);
}

std::optional<OutputCopy::Time> OutputCopy::last_output() const {
  const std::int64_t ticks = x_last;
  if (ticks == 0) return std::nullopt;
  return Time(Time::duration(ticks));
}

// False: it is time to stop. A `timeout_ms` of -1 waits for the event.
bool OutputCopy::wait_for(int fd, short events, int timeout_ms) const {
  std::array<pollfd, 2> fds{{{x_stop_read.get(), POLLIN, 0}, {fd, events, 0}}};
  while (::poll(fds.data(), fds.size(), timeout_ms) < 0 && errno == EINTR) {
  }
  return fds[0].revents == 0;
}

void OutputCopy::run() {
  std::vector<char> buffer(kReadBytes);
  while (wait_for(x_read_end.get(), POLLIN, -1)) {
    std::size_t together = 0;
    for (;;) {
      const ssize_t got = ::read(x_read_end.get(), buffer.data(), buffer.size());
      if (got < 0 && errno == EINTR) continue;
      if (got < 0 && errno == EAGAIN) break;
      if (got <= 0) return;  // the end; a terminal says EIO
      const auto size = static_cast<std::size_t>(got);
      keep(buffer.data(), size);
      if (!pass_on(buffer.data(), size)) return;
      together += size;
      if (size < buffer.size()) break;
    }
    if (together < kWorthReading && !wait_for(-1, 0, kRestMs)) return;
  }
}

bool OutputCopy::pass_on(const char* data, std::size_t size) {
  while (size > 0) {
    if (x_piece != SIZE_MAX && !wait_for(x_write_to, POLLOUT, -1)) return false;
    const ssize_t written = ::write(x_write_to, data, std::min(size, x_piece));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0 && errno == EAGAIN) {
      if (!wait_for(x_write_to, POLLOUT, -1)) return false;
      continue;
    }
    if (written < 0) return false;  // the reader went away, or the disk is full: the child shall notice
    data += written;
    size -= static_cast<std::size_t>(written);
    x_moved = std::chrono::steady_clock::now().time_since_epoch().count();
  }
  return true;
}

void OutputCopy::keep(const char* data, std::size_t size) {
  x_bytes += size;
  x_last = std::chrono::steady_clock::now().time_since_epoch().count();
  const std::lock_guard lock(x_mutex);
  x_kept_total += size;
  const std::size_t to_head = std::min(size, kHead - x_head.size());
  x_head.append(data, to_head);
  data += to_head;
  size -= to_head;
  if (size > kTail) {
    data += size - kTail;
    size = kTail;
  }
  const std::size_t grows = std::min(size, kTail - x_tail.size());
  x_tail.append(data, grows);
  data += grows;
  size -= grows;
  while (size > 0) {
    const std::size_t piece = std::min(size, kTail - x_tail_at);
    std::memcpy(&x_tail[x_tail_at], data, piece);
    x_tail_at = (x_tail_at + piece) % kTail;
    data += piece;
    size -= piece;
  }
}

OutputCopy::Kept OutputCopy::kept() const {
  const std::lock_guard lock(x_mutex);
  Kept out;
  out.head = x_head;
  out.tail = x_tail.substr(x_tail_at) + x_tail.substr(0, x_tail_at);
  out.left_out = x_kept_total - x_head.size() - x_tail.size();
  return out;
}

bool OutputCopy::drain(std::optional<std::chrono::milliseconds> at_most, int wake_fd) {
  constexpr int kLookMs = 10, kMostTimes = 2;
  const auto begun = std::chrono::steady_clock::now();
  while (!x_finished) {
    pollfd wake{wake_fd, POLLIN, 0};
    if (::poll(&wake, 1, kLookMs) > 0) return false;
    const auto moved = std::max(begun, Time(Time::duration(x_moved.load())));
    const auto now = std::chrono::steady_clock::now();
    if (at_most && (now - moved > *at_most || now - begun > *at_most * kMostTimes)) return false;
  }
  return true;
}

}  // namespace unhang::os
