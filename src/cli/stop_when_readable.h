// SPDX-License-Identifier: Apache-2.0
//
// Asks a capture to stop when a descriptor becomes readable: that of os/interrupt.h or os/signal_relay.h.
#pragma once

#include <memory>
#include <thread>

#include "collect/capture.h"
#include "os/file_descriptor.h"

namespace unhang::cli {

class StopWhenReadable {
 public:
  // `fd` is not read and must stay open as long as this lives; negative: nothing will ever come.
  StopWhenReadable(int fd, std::shared_ptr<collect::CaptureStop> stop);
  ~StopWhenReadable();
  StopWhenReadable(const StopWhenReadable&) = delete;
  StopWhenReadable& operator=(const StopWhenReadable&) = delete;

 private:
  os::FileDescriptor x_ended, x_end;
  std::thread x_thread;
};

}  // namespace unhang::cli
