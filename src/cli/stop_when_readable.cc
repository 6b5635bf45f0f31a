// SPDX-License-Identifier: Apache-2.0
#include "cli/stop_when_readable.h"

#include <array>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

namespace unhang::cli {

StopWhenReadable::StopWhenReadable(int fd, std::shared_ptr<collect::CaptureStop> stop) {
  int ends[2];
  if (fd < 0 || ::pipe2(ends, O_CLOEXEC) != 0) return;
  x_ended = os::FileDescriptor(ends[0]);
  x_end = os::FileDescriptor(ends[1]);
  x_thread = std::thread([fds = std::array<pollfd, 2>{{{fd, POLLIN, 0}, {ends[0], POLLIN, 0}}},
                          stop = std::move(stop)]() mutable {
    while (::poll(fds.data(), fds.size(), -1) < 0) {
    }
    if (fds[0].revents != 0) stop->request();
  });
}

StopWhenReadable::~StopWhenReadable() {
  x_end.close();
  if (x_thread.joinable()) x_thread.join();
}

}  // namespace unhang::cli
