// SPDX-License-Identifier: Apache-2.0
//
// Until when something may take: a point on the steady clock. Every call of this room that can wait takes
// one. The clock can be replaced, so that a test need not wait for real.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>

namespace unhang::net {

using SteadyTime = std::chrono::steady_clock::time_point;
using SteadyNow = SteadyTime (*)();
inline SteadyTime steady_now() {
  return std::chrono::steady_clock::now();
}

class Deadline {
 public:
  // A time too long for the clock means never.
  static Deadline in(std::chrono::nanoseconds time, SteadyNow now = steady_now) {
    const SteadyTime start = now();
    return Deadline(time > SteadyTime::max() - start ? SteadyTime::max() : start + time, now);
  }
  static Deadline at(SteadyTime when, SteadyNow now = steady_now) { return Deadline(when, now); }
  static Deadline never(SteadyNow now = steady_now) { return Deadline(SteadyTime::max(), now); }

  bool passed() const { return x_when != SteadyTime::max() && x_now() >= x_when; }
  // Never negative; nanoseconds::max() for never.
  std::chrono::nanoseconds left() const {
    if (x_when == SteadyTime::max()) return std::chrono::nanoseconds::max();
    return std::max<std::chrono::nanoseconds>(x_when - x_now(), std::chrono::nanoseconds(0));
  }
  // For poll(2): milliseconds, rounded up so that it does not return just before the deadline; -1 for never.
  int poll_milliseconds() const {
    if (x_when == SteadyTime::max()) return -1;
    const auto rounded = std::chrono::ceil<std::chrono::milliseconds>(left()).count();
    return static_cast<int>(std::min<std::int64_t>(rounded, std::numeric_limits<int>::max()));
  }
  SteadyTime when() const { return x_when; }
  Deadline or_sooner(const Deadline& other) const { return other.x_when < x_when ? other : *this; }
  Deadline or_sooner(std::chrono::nanoseconds time) const { return or_sooner(in(time, x_now)); }

 private:
  Deadline(SteadyTime when, SteadyNow now) : x_when(when), x_now(now) {}

  SteadyTime x_when;
  SteadyNow x_now;
};

}  // namespace unhang::net
