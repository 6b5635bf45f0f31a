// SPDX-License-Identifier: Apache-2.0
//
// Owns one file descriptor and closes it. Nothing else: reading and writing stay visible where they happen.
#pragma once

#include <utility>

#include <unistd.h>

namespace unhang::os {

class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int fd) : x_fd(fd) {}
  FileDescriptor(FileDescriptor&& other) noexcept : x_fd(std::exchange(other.x_fd, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    if (this != &other) {
      close();
      x_fd = std::exchange(other.x_fd, -1);
    }
    return *this;
  }
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  ~FileDescriptor() { close(); }

  bool valid() const { return x_fd >= 0; }
  int get() const { return x_fd; }

  // 0, or what close(2) says: some file systems tell of a failed write only here.
  int close() { return x_fd >= 0 ? ::close(std::exchange(x_fd, -1)) : 0; }

 private:
  int x_fd = -1;
};

}  // namespace unhang::os
