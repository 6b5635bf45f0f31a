// SPDX-License-Identifier: Apache-2.0
#include "os/private_file.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <system_error>
#include <utility>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/write_file.h"

namespace unhang::os {
namespace {

base::Error io_error(const std::string& what, int error) {
  return {base::ErrorCode::kIo, what + ": " + std::generic_category().message(error)};
}

std::string parent_of(const std::string& path) {
  const std::size_t slash = path.find_last_not_of('/');
  const std::size_t end = slash == std::string::npos ? std::string::npos : path.rfind('/', slash);
  return end == std::string::npos ? std::string() : path.substr(0, end);
}

// 0: something is in it; ENOENT: nothing is; else an error.
int first_entry(const std::string& path) {
  DIR* folder = ::opendir(path.c_str());
  if (folder == nullptr) return errno;
  int result = ENOENT;
  while (const dirent* entry = ::readdir(folder)) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") {
      result = 0;
      break;
    }
  }
  ::closedir(folder);
  return result;
}

}  // namespace

base::Result<> make_private_folder(const std::string& path) {
  if (const std::string above = parent_of(path); !above.empty()) {
    if (auto made = make_folder(above); !made) return made;
  }
  if (::mkdir(path.c_str(), 0700) == 0) return {};
  if (errno != EEXIST) return base::fail(io_error("making the folder " + path, errno));
  switch (const int found = first_entry(path)) {
    case ENOENT:
      return {};
    case 0:
      return base::fail(base::ErrorCode::kUsage,
                        "there is something in " + path + " already; give a new or an empty folder");
    case ENOTDIR:
      return base::fail(base::ErrorCode::kUsage, path + " is there already and no folder");
    default:
      return base::fail(io_error("the folder " + path, found));
  }
}

base::Result<> make_private_subfolder(const std::string& path) {
  if (::mkdir(path.c_str(), 0700) == 0 || errno == EEXIST) return {};
  if (errno == ENOENT) {
    if (auto made = make_private_subfolder(parent_of(path)); !made) return made;
    if (::mkdir(path.c_str(), 0700) == 0 || errno == EEXIST) return {};
  }
  return base::fail(io_error("making the folder " + path, errno));
}

base::Result<PrivateFile> PrivateFile::create(const std::string& path) {
  static std::atomic<unsigned> counter{0};
  const std::size_t stem = path.rfind('/') + 1;  // 0 when there is none
  constexpr std::size_t kLongestStem = 200;      // a name may have 255 bytes
  const std::string beside = path.substr(0, stem) + "." + path.substr(stem, kLongestStem) + "." +
                             std::to_string(::getpid()) + "." + std::to_string(counter.fetch_add(1)) +
                             ".part";
  FileDescriptor fd(::open(beside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!fd.valid()) return base::fail(io_error("writing " + path, errno));
  return PrivateFile(path, beside, std::move(fd));
}

PrivateFile::~PrivateFile() {
  if (x_fd.valid()) ::unlink(x_beside.c_str());
}

base::Result<> PrivateFile::write(std::string_view bytes) {
  while (!bytes.empty()) {
    constexpr std::size_t kLargestWrite = 1 << 30;
    const ssize_t written = ::write(x_fd.get(), bytes.data(), std::min(bytes.size(), kLargestWrite));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return base::fail(io_error("writing " + x_path, errno));
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

base::Result<> PrivateFile::rewind() {
  if (::ftruncate(x_fd.get(), 0) != 0 || ::lseek(x_fd.get(), 0, SEEK_SET) != 0)
    return base::fail(io_error("writing " + x_path, errno));
  return {};
}

base::Result<> PrivateFile::finish(bool replace) {
  int error = ::fsync(x_fd.get()) != 0 && errno != EINVAL && errno != ENOTSUP ? errno : 0;
  if (x_fd.close() != 0 && error == 0) error = errno;
  if (error == 0 && replace && ::rename(x_beside.c_str(), x_path.c_str()) != 0) error = errno;
  // link(2) never replaces; where a file system has no links there is nobody else who would write here.
  if (error == 0 && !replace && ::link(x_beside.c_str(), x_path.c_str()) != 0) {
    error = errno;
    if (error == EPERM || error == ENOTSUP || error == ENOSYS)
      error = ::access(x_path.c_str(), F_OK) == 0               ? EEXIST
              : ::rename(x_beside.c_str(), x_path.c_str()) != 0 ? errno
                                                                : 0;
  }
  ::unlink(x_beside.c_str());
  if (error != 0) return base::fail(io_error("writing " + x_path, error));
  return {};
}

base::Result<> write_private_file(const std::string& path, std::string_view bytes) {
  auto file = PrivateFile::create(path);
  if (!file) return base::fail(std::move(file.error()));
  if (auto written = file->write(bytes); !written) return written;
  return file->finish(true);
}

}  // namespace unhang::os
