// SPDX-License-Identifier: Apache-2.0
//
// RAS for `unhang watch`: polls on a thread of their own, because an answer may take many seconds when
// processes do not respond, and what they say put into a detect::RasSignal.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "cli/ras_state_of.h"
#include "collect/ras_client.h"
#include "detect/instance_state.h"
#include "net/deadline.h"
#include "os/file_descriptor.h"

namespace unhang::cli {

// Asks all addresses. Ends with its life, whatever the services do.
class RasFeed {
 public:
  RasFeed(std::vector<net::HostPort> addresses, collect::RasClientOptions options);
  ~RasFeed();
  RasFeed(const RasFeed&) = delete;
  RasFeed& operator=(const RasFeed&) = delete;

  // Begins a poll, unless one is still going on.
  void ask();
  // What was not handed out yet; waits for it until the deadline. Null: nothing came.
  std::shared_ptr<const collect::RasPoll> take(const net::Deadline& deadline);

 private:
  void work();

  collect::RasClient x_client;
  os::FileDescriptor x_wake, x_waker;  // wakes a poll when the feed ends
  std::mutex x_mutex;
  std::condition_variable x_changed;
  bool x_asked = false, x_busy = false, x_ending = false;
  std::shared_ptr<const collect::RasPoll> x_result;
  std::thread x_thread;  // last: begins when all else is there
};

// The RAS signal of one instance over time.
class RasWatch {
 public:
  explicit RasWatch(std::int64_t interval_ns) : x_interval_ns(interval_ns), x_tracks(interval_ns * 3 / 2) {}

  // `poll`: the replies of this instance's addresses; null where none came in time.
  const detect::RasSignal& follow(const collect::RasPoll* poll, std::int64_t now_ns);

 private:
  void read(const report::RasState& state, std::int64_t now_ns);

  std::int64_t x_interval_ns;
  RasJobTracks x_tracks;
  detect::RasSignal x_signal;
  int x_answers = 0;
  std::int64_t x_answered_ns = 0;
};

}  // namespace unhang::cli
