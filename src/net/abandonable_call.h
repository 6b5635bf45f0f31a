// SPDX-License-Identifier: Apache-2.0
//
// For calls of the system that cannot be told how long they may take (getaddrinfo, /proc of a stuck process):
// they run on a thread of their own, which is left to itself when the deadline passes.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "net/deadline.h"

namespace unhang::net {

// The value of `work`, or nullopt when it did not come in time (or no thread could be made). `work` may go on
// after this returned: it must own all that it touches.
template <class Value>
std::optional<Value> call_until(const Deadline& deadline, std::function<Value()> work) {
  struct Shared {
    std::mutex mutex;
    std::condition_variable arrived;
    std::optional<Value> value;
  };
  const auto shared = std::make_shared<Shared>();
  try {
    std::thread([shared, work = std::move(work)] {
      Value value = work();
      const std::lock_guard<std::mutex> lock(shared->mutex);
      shared->value = std::move(value);
      shared->arrived.notify_one();
    }).detach();
  } catch (const std::system_error&) {
    return std::nullopt;
  }
  constexpr std::chrono::nanoseconds kLongest = std::chrono::hours(24);
  std::unique_lock<std::mutex> lock(shared->mutex);
  shared->arrived.wait_for(lock, std::min(deadline.left(), kLongest),
                           [&] { return shared->value.has_value(); });
  return std::move(shared->value);
}

}  // namespace unhang::net
