// SPDX-License-Identifier: Apache-2.0
#include "os/fifo_signal.h"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "os/file_descriptor.h"

namespace unhang::os {
namespace {

// A handle only: nobody notices.
FileDescriptor open_handle(const std::string& root, const std::string& path) {
  const FileDescriptor top(::open(root.empty() ? "/" : root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!top.valid()) return FileDescriptor();
  open_how how{};
  how.flags = O_PATH | O_CLOEXEC | O_NOFOLLOW;
  how.resolve = RESOLVE_IN_ROOT;
  if (!root.empty()) how.resolve |= RESOLVE_NO_SYMLINKS;
  return FileDescriptor(static_cast<int>(::syscall(SYS_openat2, top.get(), path.c_str(), &how, sizeof how)));
}

}  // namespace

base::Result<> signal_fifo(const std::string& root, const std::string& path, std::int64_t owner) {
  using base::ErrorCode;
  const auto cannot = [&](ErrorCode code, const std::string& why) {
    return base::fail(code, path + ": " + why);
  };
  const FileDescriptor handle = open_handle(root, path);
  struct stat status {};
  if (!handle.valid() || ::fstat(handle.get(), &status) != 0)
    return cannot(errno == ENOENT ? ErrorCode::kNoInput : ErrorCode::kUnavailable, std::strerror(errno));
  if (!S_ISFIFO(status.st_mode)) return cannot(ErrorCode::kUnavailable, "it is no named pipe");
  if (owner < 0 || static_cast<std::int64_t>(status.st_uid) != owner)
    return cannot(ErrorCode::kUnavailable, "it belongs to another user than the process");
  const std::string again = "/proc/self/fd/" + std::to_string(handle.get());
  const FileDescriptor pipe(::open(again.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC));
  if (!pipe.valid()) {
    return cannot(ErrorCode::kUnavailable, errno == ENXIO
                                               ? "nobody reads it: its process has ended or has no watchdog"
                                               : std::strerror(errno));
  }
  if (::write(pipe.get(), "1", 1) != 1) return cannot(ErrorCode::kUnavailable, std::strerror(errno));
  return {};
}

}  // namespace unhang::os
