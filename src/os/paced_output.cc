// SPDX-License-Identifier: Apache-2.0
#include "os/paced_output.h"

#include <algorithm>
#include <cerrno>
#include <climits>

#include <poll.h>
#include <unistd.h>

namespace unhang::os {

bool write_until(int fd, std::string_view bytes, std::chrono::steady_clock::time_point deadline) {
  while (!bytes.empty()) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0) return false;
    pollfd ready{fd, POLLOUT, 0};
    const int count = ::poll(&ready, 1, static_cast<int>(std::min<std::int64_t>(left.count(), 60'000)));
    if (count <= 0) continue;
    if ((ready.revents & (POLLERR | POLLNVAL)) != 0) return false;
    // So many bytes a pipe that is ready takes at once: the descriptor is shared with others, and is not made
    // non-blocking for them.
    const ssize_t written = ::write(fd, bytes.data(), std::min<std::size_t>(bytes.size(), PIPE_BUF));
    if (written < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (written < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

}  // namespace unhang::os
