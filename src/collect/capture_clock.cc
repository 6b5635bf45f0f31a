// SPDX-License-Identifier: Apache-2.0
#include "collect/capture_clock.h"

namespace unhang::collect {

CaptureClock::Time RealCaptureClock::now() {
  return std::chrono::steady_clock::now();
}

std::int64_t RealCaptureClock::wall_ns() {
  const auto since = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(since).count();
}

void RealCaptureClock::wait(std::unique_lock<std::mutex>& lock, std::condition_variable& changed,
                            Time until) {
  changed.wait_until(lock, until);
}

}  // namespace unhang::collect
