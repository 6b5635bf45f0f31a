// SPDX-License-Identifier: Apache-2.0
#include "os/write_file.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <system_error>

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/file_descriptor.h"

namespace unhang::os {
namespace {

base::Result<> io_failure(const std::string& what, int error) {
  return base::fail(base::ErrorCode::kIo, what + ": " + std::generic_category().message(error));
}

// 0 or an error number.
int write_all(int fd, std::string_view bytes) {
  constexpr std::size_t kLargestWrite = 1 << 30;
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), std::min(bytes.size(), kLargestWrite));
    if (written >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno == EAGAIN) {  // somebody made the terminal or pipe that we share non-blocking
      pollfd ready{fd, POLLOUT, 0};
      ::poll(&ready, 1, -1);
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

// While it lives, writing to a pipe without reader is an error number and no signal, for this thread only.
class QuietPipe {
 public:
  QuietPipe() {
    sigemptyset(&x_pipe);
    sigaddset(&x_pipe, SIGPIPE);
    sigset_t pending;
    sigpending(&pending);
    x_was_pending = sigismember(&pending, SIGPIPE) == 1;
    pthread_sigmask(SIG_BLOCK, &x_pipe, &x_before);
  }
  ~QuietPipe() {
    const timespec at_once{};
    if (!x_was_pending) {
      while (sigtimedwait(&x_pipe, nullptr, &at_once) < 0 && errno == EINTR) {
      }
    }
    pthread_sigmask(SIG_SETMASK, &x_before, nullptr);
  }
  QuietPipe(const QuietPipe&) = delete;
  QuietPipe& operator=(const QuietPipe&) = delete;

 private:
  sigset_t x_pipe{};
  sigset_t x_before{};
  bool x_was_pending = false;
};

using Produce = std::function<void(const WriteBytes&)>;

// 0 or an error number.
int write_pieces(int fd, const Produce& produce) {
  int error = 0;
  produce([&](std::string_view bytes) {
    if (error == 0) error = write_all(fd, bytes);
  });
  return error;
}

base::Result<> write_stream(int fd, const std::string& name, const Produce& produce) {
  const QuietPipe quiet;
  const int error = write_pieces(fd, produce);
  if (error == 0 || error == EPIPE) return {};
  return io_failure("writing to " + name, error);
}

// A name beside `path` that nobody uses; opened for writing.
FileDescriptor open_beside(const std::string& path, mode_t mode, std::string& name) {
  static std::atomic<unsigned> counter{0};
  const std::size_t slash = path.rfind('/');
  const std::size_t stem = slash == std::string::npos ? 0 : slash + 1;
  constexpr std::size_t kLongestStem = 200;  // a name may have 255 bytes
  for (int attempt = 0; attempt < 100; ++attempt) {
    name = path.substr(0, stem) + "." + path.substr(stem, kLongestStem) + "." + std::to_string(::getpid()) +
           "." + std::to_string(counter.fetch_add(1)) + ".new";
    FileDescriptor fd(::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode));
    if (fd.valid() || errno != EEXIST) return fd;
  }
  return {};
}

base::Result<> replace_file(const std::string& path, const Produce& produce, const struct stat* before) {
  std::string beside;
  FileDescriptor fd = open_beside(path, 0666, beside);
  if (!fd.valid()) return io_failure("writing " + path + ", making a file in its folder", errno);
  int error = write_pieces(fd.get(), produce);
  if (error == 0 && before != nullptr && ::fchmod(fd.get(), before->st_mode & 07777) != 0) error = errno;
  if (error == 0 && ::fsync(fd.get()) != 0 && errno != EINVAL && errno != ENOTSUP) error = errno;
  if (fd.close() != 0 && error == 0) error = errno;
  if (error == 0 && ::rename(beside.c_str(), path.c_str()) != 0) error = errno;
  if (error == 0) return {};
  ::unlink(beside.c_str());
  return io_failure("writing " + path, error);
}

}  // namespace

base::Result<> write_file(const std::string& path, std::string_view bytes) {
  return write_file_in_pieces(path, [&](const WriteBytes& write) { write(bytes); });
}

base::Result<> write_file_in_pieces(const std::string& path, const Produce& produce) {
  if (path == "-") {
    std::fflush(stdout);  // what was printed before comes before
    return write_stream(STDOUT_FILENO, "stdout", produce);
  }
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) {
    if (errno != ENOENT) return io_failure("writing " + path, errno);
    if (::lstat(path.c_str(), &status) == 0)
      return io_failure("writing " + path + ", a link without target", ENOENT);
    return replace_file(path, produce, nullptr);
  }
  if (S_ISDIR(status.st_mode)) return io_failure("writing " + path + ", give the name of a file", EISDIR);
  if (!S_ISREG(status.st_mode)) {
    const FileDescriptor fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY));
    if (!fd.valid()) return io_failure("writing to " + path, errno);
    return write_stream(fd.get(), path, produce);
  }
  const std::unique_ptr<char, decltype(&std::free)> target(::realpath(path.c_str(), nullptr), &std::free);
  if (!target) return io_failure("writing " + path, errno);
  return replace_file(target.get(), produce, &status);
}

base::Result<> make_folder(const std::string& path) {
  for (std::size_t end = path.find('/', 1);; end = path.find('/', end + 1)) {
    const std::string part = path.substr(0, end);
    if (::mkdir(part.c_str(), 0777) != 0) {
      const int error = errno;
      struct stat status {};
      // Some file systems answer EROFS or EACCES for a folder that is there.
      const bool folder = ::stat(part.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
      if (!folder) return io_failure("making the folder " + part, error == EEXIST ? ENOTDIR : error);
    }
    if (end == std::string::npos) return {};
  }
}

}  // namespace unhang::os
