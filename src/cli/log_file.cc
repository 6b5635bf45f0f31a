// SPDX-License-Identifier: Apache-2.0
#include "cli/log_file.h"

#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/content_kind.h"
#include "os/decompress_source.h"

namespace unhang::cli {

base::Result<std::unique_ptr<LogFile>> LogFile::open(const std::string& path) {
  std::unique_ptr<LogFile> log(new LogFile);
  log->x_path = path;
  if (path == "-") {
    log->x_fd = STDIN_FILENO;
  } else {
    log->x_owned = os::FileDescriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    log->x_fd = log->x_owned.get();
  }
  struct stat status {};
  if (log->x_fd < 0 || ::fstat(log->x_fd, &status) != 0)
    return base::fail(base::ErrorCode::kNoInput, path + ": " + std::strerror(errno));
  log->x_changed_ns = std::int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec;
  log->x_file = std::make_unique<os::FileSource>(log->x_fd);
  log->x_source = log->x_file.get();
  const std::string_view head = log->x_file->peek(path == "-" ? 1 : os::kKindBytes);
  const os::ContentKind kind = os::content_kind(head);
  if (os::is_compression(kind)) {
    log->x_budget.emplace(os::ReadLimits{}, static_cast<std::uint64_t>(status.st_size));
    log->x_unpacked = std::make_unique<os::DecompressSource>(*log->x_file, kind, *log->x_budget);
    log->x_source = log->x_unpacked.get();
  } else if (kind != os::ContentKind::kPlain) {
    return base::fail(base::ErrorCode::kData, path + ": an archive; unpack it to merge its logs");
  } else if (head.find('\0') != std::string_view::npos) {
    return base::fail(base::ErrorCode::kData, path + ": no text");
  } else {
    log->x_can_follow = path != "-" && S_ISREG(status.st_mode);
  }
  return log;
}

bool LogFile::begins_anew() {
  struct stat ours {
  }, named{};
  if (!x_can_follow || ::fstat(x_fd, &ours) != 0) return false;
  if (::stat(x_path.c_str(), &named) == 0 && S_ISREG(named.st_mode) &&
      (named.st_ino != ours.st_ino || named.st_dev != ours.st_dev)) {
    os::FileDescriptor fresh(::open(x_path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    if (!fresh.valid()) return false;  // in the middle of its rotation: the next look finds it
    x_owned = std::move(fresh);
    x_fd = x_owned.get();
  } else {
    const off_t at = ::lseek(x_fd, 0, SEEK_CUR);
    if (at < 0 || ours.st_size >= at || ::lseek(x_fd, 0, SEEK_SET) != 0) return false;
  }
  x_file = std::make_unique<os::FileSource>(x_fd);
  x_source = x_file.get();
  return true;
}

}  // namespace unhang::cli
