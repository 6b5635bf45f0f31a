// SPDX-License-Identifier: Apache-2.0
//
// The time as a capture sees it, so that a test can be its master.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace unhang::collect {

class CaptureClock {
 public:
  using Time = std::chrono::steady_clock::time_point;

  virtual ~CaptureClock() = default;
  virtual Time now() = 0;
  virtual std::int64_t wall_ns() = 0;  // since 1970, UTC
  // As condition_variable::wait_until: returns at `until`, when `changed` is notified, or for no reason.
  virtual void wait(std::unique_lock<std::mutex>& lock, std::condition_variable& changed, Time until) = 0;
};

class RealCaptureClock final : public CaptureClock {
 public:
  Time now() override;
  std::int64_t wall_ns() override;
  void wait(std::unique_lock<std::mutex>& lock, std::condition_variable& changed, Time until) override;
};

}  // namespace unhang::collect
