// SPDX-License-Identifier: Apache-2.0
#include "cli/watch_capture.h"

#include <algorithm>
#include <cstdlib>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "base/time_text.h"

namespace unhang::cli {
namespace {

constexpr std::int64_t kPause = 600'000'000'000;

// Whatever the instance is called, a harmless file name.
std::string folder_name(const std::string& instance, std::int64_t now_ns) {
  std::string name = instance.substr(0, 64);
  for (char& c : name) {
    const bool plain =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
    if (!plain) c = '_';
  }
  std::string time = base::utc_text(now_ns).substr(0, 19) + "Z";
  time.erase(std::remove_if(time.begin(), time.end(), [](char c) { return c == '-' || c == ':'; }),
             time.end());
  return fmt::format("unhang-{}-{}", name, time);
}

}  // namespace

StallCaptures::StallCaptures(Settings settings) : x_settings(std::move(settings)) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) == 0) {
    x_wake = os::FileDescriptor(ends[0]);
    x_waker = os::FileDescriptor(ends[1]);
  }
}

StallCaptures::~StallCaptures() {
  x_stop->request();
  x_waker.close();  // the other end becomes readable
  for (Job& job : x_jobs) {
    if (job.thread.joinable()) job.thread.join();
  }
}

void StallCaptures::begin(const std::string& instance, std::vector<std::string> engines,
                          std::vector<std::string> ras, std::int64_t now_ns) {
  for (const Job& job : x_jobs) {
    if (job.instance == instance && now_ns - job.began_ns < kPause) return;
  }
  collect::LiveCaptureRequest request;
  request.folder =
      (x_settings.folder.empty() ? std::string() : x_settings.folder + "/") + folder_name(instance, now_ns);
  request.budget = x_settings.budget;
  request.instance = instance;
  request.ras = !ras.empty();
  request.ras_addresses = std::move(ras);
  request.nccl_release = x_settings.release;
  request.engines = std::move(engines);
  request.tool_version = UNHANG_VERSION;
  request.nvml_words = {"/proc/self/exe", "nvml"};
  request.native_stacks = false;  // nobody is asked here whether workers may be stopped for it
  for (const std::string& name : collect::capture_variables()) {
    if (const char* value = std::getenv(name.c_str())) request.environment.emplace_back(name, value);
  }
  request.wake_fd = x_wake.get();
  request.stop = x_stop;
  {
    const std::lock_guard lock(x_mutex);
    ++x_running;
  }
  x_jobs.push_back({instance, now_ns, std::thread([this, instance, request = std::move(request)] {
                      const auto result = collect::capture_live(request);
                      Done done{instance, request.folder, {}};
                      if (!result) {
                        done.trouble = result.error().message;
                      } else if (!result->trouble.empty()) {
                        done.trouble = result->trouble;
                      } else if (!result->anything) {
                        done.trouble = "nothing answered and nothing was found";
                      }
                      const std::lock_guard lock(x_mutex);
                      --x_running;
                      x_done.push_back(std::move(done));
                      x_changed.notify_all();
                    })});
}

std::vector<StallCaptures::Done> StallCaptures::take_done() {
  const std::lock_guard lock(x_mutex);
  return std::exchange(x_done, {});
}

bool StallCaptures::wait(std::chrono::nanoseconds a_little) {
  std::unique_lock lock(x_mutex);
  return !x_changed.wait_for(lock, a_little, [&] { return x_running == 0; });
}

}  // namespace unhang::cli
