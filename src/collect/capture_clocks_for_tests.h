// SPDX-License-Identifier: Apache-2.0
//
// For tests only: clocks that a test rules, and a folder for bundles.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <list>
#include <memory>
#include <sstream>
#include <string>

#include "base/check.h"
#include "collect/capture.h"
#include "formats/catalogue.h"

namespace unhang::collect::fixture {

inline constexpr std::int64_t kStartNs = 1795964489'000'000'000;  // 2026-11-29T15:01:29Z

// Nobody waits: a wait is over at once, and then it is that late. For one thread.
class JumpingClock final : public CaptureClock {
 public:
  Time now() override { return x_now; }
  std::int64_t wall_ns() override { return kStartNs + (x_now - Time()).count(); }
  void wait(std::unique_lock<std::mutex>&, std::condition_variable&, Time until) override {
    x_now = std::max(x_now, until);
  }
  void advance(std::chrono::nanoseconds by) { x_now += by; }

 private:
  Time x_now;
};

// Stands still until the test advances it. For several threads.
class SteeredClock final : public CaptureClock {
 public:
  Time now() override {
    const std::lock_guard lock(x_mutex);
    return x_now;
  }
  std::int64_t wall_ns() override { return kStartNs + (now() - Time()).count(); }
  void wait(std::unique_lock<std::mutex>& lock, std::condition_variable& changed, Time until) override {
    std::list<Waiter>::iterator self;
    {
      const std::lock_guard guard(x_mutex);
      if (x_now >= until) return;
      self = x_waiters.insert(x_waiters.end(), {lock.mutex(), &changed});
      x_arrived.notify_all();
    }
    changed.wait(lock);
    const std::lock_guard guard(x_mutex);
    x_waiters.erase(self);
  }
  // Until so many threads wait: then nothing happens any more by itself.
  void await_waiters(std::size_t count) {
    std::unique_lock lock(x_mutex);
    x_arrived.wait(lock, [&] { return x_waiters.size() >= count; });
  }
  void advance(std::chrono::nanoseconds by) {
    std::list<Waiter> waiters;
    {
      const std::lock_guard lock(x_mutex);
      x_now += by;
      waiters = x_waiters;
    }
    for (const Waiter& waiter : waiters) {
      const std::lock_guard lock(*waiter.mutex);
      waiter.changed->notify_all();
    }
  }

 private:
  struct Waiter {
    std::mutex* mutex;
    std::condition_variable* changed;
  };
  std::mutex x_mutex;
  std::condition_variable x_arrived;
  std::list<Waiter> x_waiters;
  Time x_now;
};

// A folder with a bundle in it; goes with its life.
class BundleFolder {
 protected:
  BundleFolder() {
    std::string name = std::filesystem::temp_directory_path() / "unhang-bundle-XXXXXX";
    x_folder = ::mkdtemp(name.data());
    x_bundle = x_folder / "bundle";
  }
  ~BundleFolder() { std::filesystem::remove_all(x_folder); }

  BundleFolder(const BundleFolder&) = delete;
  BundleFolder& operator=(const BundleFolder&) = delete;

  static std::string content(const std::filesystem::path& path) {
    std::ostringstream text;
    text << std::ifstream(path, std::ios::binary).rdbuf();
    return text.str();
  }
  void put(const std::filesystem::path& path, const std::string& bytes) const {
    std::filesystem::create_directories((x_folder / path).parent_path());
    std::ofstream(x_folder / path, std::ios::binary) << bytes;
  }
  // What lies there now, as the reader of bundles sees it.
  model::BundleManifest manifest_on_disk() const {
    const auto evidence = formats::read_evidence("m", content(x_bundle / "manifest.json"));
    CHECK(evidence.bundles.size() == 1);
    return evidence.bundles.front();
  }
  // All files below the bundle but the manifest, by path.
  std::vector<std::string> files_on_disk() const {
    std::vector<std::string> out;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(x_bundle)) {
      if (entry.is_regular_file() && entry.path().filename() != "manifest.json")
        out.push_back(std::filesystem::relative(entry.path(), x_bundle));
    }
    std::sort(out.begin(), out.end());
    return out;
  }

  // Runs one source by itself, with a clock that does not wait.
  SourceOutcome run_alone(const CaptureSource& source,
                          std::chrono::nanoseconds budget = std::chrono::seconds(25)) {
    model::BundleManifest planned;
    planned.started_ns = kStartNs;
    planned.sources.push_back({.id = source.id, .kind = source.kind});
    auto writer = BundleWriter::create(x_bundle, planned);
    CHECK(writer.has_value());
    CaptureSettings settings;
    settings.clock = x_clock;
    settings.stop = x_stop;
    const std::shared_ptr<BundleWriter> shared = std::move(*writer);
    CaptureContext context(shared, 0, x_clock->now() + budget, settings);
    const SourceOutcome outcome = source.run(context);
    x_files = shared->manifest().sources.front().files;
    return outcome;
  }

  std::filesystem::path x_folder, x_bundle;
  std::shared_ptr<JumpingClock> x_clock = std::make_shared<JumpingClock>();
  std::shared_ptr<CaptureStop> x_stop = std::make_shared<CaptureStop>();
  std::vector<model::BundleFile> x_files;  // that run_alone() kept
};

}  // namespace unhang::collect::fixture
