// SPDX-License-Identifier: Apache-2.0
#include "os/child_side.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace unhang::os {
namespace {

constexpr int kPipe = 0;  // where the pipe lies in the child; everything else is closed

void write_all_or_end(const void* data, std::size_t size) {
  const char* from = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t written = ::write(kPipe, from, size);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) ::_exit(1);  // the parent has gone
    from += written;
    size -= static_cast<std::size_t>(written);
  }
}

void send_piece(const char* data, std::size_t size) {
  ChildFrame frame;
  frame.length = static_cast<std::uint32_t>(size);
  write_all_or_end(&frame, sizeof frame);
  write_all_or_end(data, size);
}

int open_below(const ReadRequest& request, int flags) {
  const int root = ::open(request.root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (root < 0) return -1;
  open_how how{};
  how.flags = static_cast<std::uint64_t>(flags);
  how.resolve = RESOLVE_IN_ROOT;
  int fd = static_cast<int>(::syscall(SYS_openat2, root, request.path.c_str(), &how, sizeof how));
  if (fd < 0 && (errno == ENOSYS || errno == EPERM))
    fd = open_part_by_part(root, request.path.c_str(), flags);
  const int error = errno;
  ::close(root);
  errno = error;
  return fd;
}

// A handle only: neither a pipe nor a device notices.
int open_handle(const ReadRequest& request) {
  int flags = O_PATH | O_CLOEXEC;
  if (!request.follow_last) flags |= O_NOFOLLOW;
  return request.root.empty() ? ::open(request.path.c_str(), flags) : open_below(request, flags);
}

// Opens for reading what the handle stands for, and closes the handle.
int reopen(int handle, int flags) {
  std::array<char, 64> name{};
  std::memcpy(name.data(), "/proc/self/fd/", 14);
  std::array<char, 16> digits{};
  std::size_t count = 0;
  for (int rest = handle; count == 0 || rest > 0; rest /= 10)
    digits[count++] = static_cast<char>('0' + rest % 10);
  for (std::size_t i = 0; i < count; ++i) name[14 + i] = digits[count - 1 - i];
  const int fd = ::open(name.data(), flags);
  const int error = errno;
  ::close(handle);
  errno = error;
  return fd;
}

void describe(int fd, ChildFrame& frame) {
  struct stat status {};
  if (::fstat(fd, &status) != 0) return;
  frame.is_regular = S_ISREG(status.st_mode) ? 1 : 0;
  frame.size = status.st_size;
  frame.modified_ns = std::int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec;
  frame.device = status.st_dev;
  frame.inode = status.st_ino;
  frame.owner = status.st_uid;
}

void read_file(const ReadRequest& request, ChildFrame& reply) {
  const int handle = open_handle(request);
  if (handle < 0) {
    reply.error = errno;
    return;
  }
  describe(handle, reply);
  if (reply.is_regular == 0) {
    ::close(handle);
    return;
  }
  const int fd = reopen(handle, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
  if (fd < 0) {
    reply.error = errno;
    return;
  }
  if (request.last_bytes > 0 && reply.size > 0 && request.last_bytes < static_cast<std::uint64_t>(reply.size))
    ::lseek(fd, -static_cast<off_t>(request.last_bytes), SEEK_END);
  std::array<char, kChildPieceBytes> buffer;
  std::uint64_t left = request.max_bytes;
  for (;;) {
    const ssize_t got = ::read(fd, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) reply.error = errno;
    if (got <= 0) break;
    const auto take = std::min<std::uint64_t>(static_cast<std::uint64_t>(got), left);
    if (take > 0) send_piece(buffer.data(), take);
    left -= take;
    if (take < static_cast<std::uint64_t>(got)) {
      reply.cut = 1;
      break;
    }
  }
  describe(fd, reply);
  ::close(fd);
}

// The record that getdents64(2) writes; its name begins at byte 19.
constexpr std::size_t kEntryLength = 16, kEntryName = 19;

void list_folder(const ReadRequest& request, ChildFrame& reply) {
  const int handle = open_handle(request);
  const int fd = handle < 0 ? handle : reopen(handle, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) {
    reply.error = errno;
    return;
  }
  alignas(8) std::array<char, 32 << 10> entries;
  std::array<char, 32 << 10> names;
  std::uint64_t left = request.max_bytes;
  while (reply.cut == 0) {
    const long got = ::syscall(SYS_getdents64, fd, entries.data(), entries.size());
    if (got < 0) reply.error = errno;
    if (got <= 0) break;
    std::size_t used = 0;
    for (std::size_t at = 0; at + kEntryName < static_cast<std::size_t>(got);) {
      std::uint16_t length = 0;
      std::memcpy(&length, &entries[at + kEntryLength], sizeof length);
      const char* name = &entries[at + kEntryName];
      const std::size_t size = std::strlen(name) + 1;
      at += length;
      if (std::strcmp(name, ".") == 0 || std::strcmp(name, "..") == 0) continue;
      if (size > left) {
        reply.cut = 1;
        break;
      }
      left -= size;
      std::memcpy(&names[used], name, size);
      used += size;
    }
    if (used > 0) send_piece(names.data(), used);
  }
  describe(fd, reply);
  ::close(fd);
}

void read_link(const ReadRequest& request, ChildFrame& reply) {
  std::array<char, 4096> target;
  const ssize_t got = ::readlink(request.path.c_str(), target.data(), target.size());
  if (got < 0) {
    reply.error = errno;
  } else {
    send_piece(target.data(), static_cast<std::size_t>(got));
  }
}

}  // namespace

int open_part_by_part(int folder, const char* path, int flags) {
  int at = ::fcntl(folder, F_DUPFD_CLOEXEC, 0);
  std::array<char, 256> part{};
  while (at >= 0) {
    while (*path == '/') ++path;
    const char* end = path;
    while (*end != '\0' && *end != '/') ++end;
    const auto length = static_cast<std::size_t>(end - path);
    const bool leads_up = length == 2 && path[0] == '.' && path[1] == '.';
    int next = -1;
    if (length >= part.size() || leads_up) {
      errno = length >= part.size() ? ENAMETOOLONG : EACCES;
    } else if (length == 0) {
      next = ::openat(at, ".", flags | O_NOFOLLOW);
    } else {
      std::memcpy(part.data(), path, length);
      part[length] = '\0';
      next =
          ::openat(at, part.data(), (*end == '\0' ? flags : O_PATH | O_DIRECTORY | O_CLOEXEC) | O_NOFOLLOW);
    }
    const int error = errno;
    ::close(at);
    errno = error;
    if (*end == '\0') return next;
    at = next;
    path = end;
  }
  return at;
}

void run_child(std::span<const ReadRequest> requests, int pipe) {
  // Whoever waits for our output must not wait for a child that will never end, and it must not outlive us.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (pipe != kPipe && ::dup2(pipe, kPipe) < 0) ::_exit(1);
  if (::syscall(SYS_close_range, kPipe + 1, ~0u, 0) != 0) {
    for (int fd = kPipe + 1; fd < 4096; ++fd) ::close(fd);
  }
  for (const ReadRequest& request : requests) {
    ChildFrame reply;
    switch (request.kind) {
      case ReadKind::kFile:
        read_file(request, reply);
        break;
      case ReadKind::kFolder:
        list_folder(request, reply);
        break;
      case ReadKind::kLink:
        read_link(request, reply);
        break;
    }
    reply.is_reply = 1;
    write_all_or_end(&reply, sizeof reply);
  }
  ::_exit(0);
}

}  // namespace unhang::os
