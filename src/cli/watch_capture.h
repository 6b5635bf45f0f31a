// SPDX-License-Identifier: Apache-2.0
//
// `unhang watch --on-stall capture`: a bundle of an instance at the moment in which it stops, made on a
// thread of its own while the watch goes on.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "collect/live_capture.h"
#include "os/file_descriptor.h"

namespace unhang::cli {

class StallCaptures {
 public:
  struct Settings {
    std::string folder;  // bundles are made below it
    std::chrono::nanoseconds budget{0};
    std::optional<collect::NcclRelease> release;
  };
  struct Done {
    std::string instance, folder;
    std::string trouble;  // empty: something was captured
  };

  explicit StallCaptures(Settings settings);
  // Asks captures that still run to end, and waits for them: their bundles are valid then.
  ~StallCaptures();
  StallCaptures(const StallCaptures&) = delete;
  StallCaptures& operator=(const StallCaptures&) = delete;

  // Begins one, unless one of this instance began less than ten minutes ago.
  void begin(const std::string& instance, std::vector<std::string> engines, std::vector<std::string> ras,
             std::int64_t now_ns);
  // Those that ended since the last call.
  std::vector<Done> take_done();
  // Waits a little for those that run; false when none does any more.
  bool wait(std::chrono::nanoseconds a_little);

 private:
  struct Job {
    std::string instance;
    std::int64_t began_ns = 0;
    std::thread thread;
  };

  Settings x_settings;
  std::shared_ptr<collect::CaptureStop> x_stop = std::make_shared<collect::CaptureStop>();
  os::FileDescriptor x_wake, x_waker;
  std::mutex x_mutex;
  std::condition_variable x_changed;
  std::size_t x_running = 0;
  std::vector<Done> x_done;
  std::vector<Job> x_jobs;
};

}  // namespace unhang::cli
