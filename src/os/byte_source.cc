// SPDX-License-Identifier: Apache-2.0
#include "os/byte_source.h"

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include <unistd.h>

namespace unhang::os {
namespace {

constexpr std::size_t kFileBlockBytes = 128 << 10;
constexpr std::size_t kLargestRead = 1 << 30;  // Linux reads at most 2 GiB at once

}  // namespace

std::string_view ByteSource::peek(std::size_t wanted) {
  while (x_block.size() < wanted) {
    if (x_block.data() != x_held.data()) x_held.assign(x_block);
    const std::string_view block = pull();
    if (block.empty()) {
      x_block = x_held;
      break;
    }
    if (x_held.empty()) {
      x_block = block;  // the usual case: nothing to join, nothing to copy
      continue;
    }
    x_held.append(block);
    x_block = x_held;
  }
  return x_block;
}

std::string_view ByteSource::next() {
  const std::string_view block = x_block.empty() ? pull() : std::exchange(x_block, std::string_view{});
  x_taken += block.size();
  return block;
}

FileSource::FileSource(int fd, std::atomic<std::uint64_t>* bytes_read)
    : x_fd(fd), x_bytes_read(bytes_read), x_buffer(std::make_unique_for_overwrite<char[]>(kFileBlockBytes)) {}

std::string_view FileSource::pull() {
  const std::int64_t got = read_some(x_fd, x_buffer.get(), kFileBlockBytes);
  if (got < 0) set_stop({"unreadable", "reading failed: " + std::generic_category().message(errno)});
  if (got > 0 && x_bytes_read != nullptr) *x_bytes_read += static_cast<std::uint64_t>(got);
  return {x_buffer.get(), static_cast<std::size_t>(std::max<std::int64_t>(got, 0))};
}

std::int64_t read_some(int fd, char* into, std::size_t room) {
  ssize_t got;
  do {
    got = ::read(fd, into, std::min(room, kLargestRead));
  } while (got < 0 && errno == EINTR);
  return got;
}

}  // namespace unhang::os
