// SPDX-License-Identifier: Apache-2.0
//
// A capture: several sources are asked side by side, each on its own thread, and what they give is written to
// a bundle at once. It ends when all are done, when the budget is spent, or when somebody asks it to stop;
// then the bundle is closed, and a source that is still stuck is left to itself and listed as silent. It
// concludes nothing.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/result.h"
#include "collect/bundle_writer.h"
#include "collect/capture_clock.h"
#include "model/bundle.h"

namespace unhang::collect {

// How a capture is asked to end early (Ctrl-C, SIGTERM), from any thread.
class CaptureStop {
 public:
  void request();
  bool requested() const { return x_requested; }

 private:
  friend class CaptureContext;
  friend class CaptureRun;
  std::atomic<bool> x_requested{false};
  std::mutex x_mutex;
  std::condition_variable x_changed;
};

struct CaptureSettings {
  std::string folder;
  std::chrono::nanoseconds budget = std::chrono::seconds(25);
  model::BundleManifest facts;  // tool_version, host, instance, deployment, labels, processes
  std::shared_ptr<CaptureClock> clock = std::make_shared<RealCaptureClock>();
  std::shared_ptr<CaptureStop> stop = std::make_shared<CaptureStop>();
};

// What a source sees of the capture. Everything here may be called until the source returns, also when the
// capture has ended meanwhile: then nothing is kept any more.
class CaptureContext {
 public:
  using Time = CaptureClock::Time;

  CaptureContext(std::shared_ptr<BundleWriter> writer, std::size_t source, Time deadline,
                 const CaptureSettings& settings)
      : x_writer(std::move(writer)),
        x_source(source),
        x_deadline(deadline),
        x_clock(settings.clock),
        x_stop(settings.stop) {}

  Time now() const { return x_clock->now(); }
  std::int64_t wall_ns() const { return x_clock->wall_ns(); }
  Time deadline() const { return x_deadline; }  // by then the source should have returned
  bool stopping() const { return x_stop->requested() || now() >= x_deadline; }
  // Waits until then. False at once when the capture is to end, or would be over by then.
  bool wait_until(Time when) const;

  base::Result<BundleEntry> open(const std::string& path) const { return x_writer->open(path); }
  base::Result<> close(BundleEntry entry, model::BundleFile facts) {
    return noted(x_writer->close(x_source, std::move(entry), std::move(facts)));
  }
  base::Result<> keep(std::string_view bytes, model::BundleFile facts) {
    return noted(x_writer->keep(x_source, bytes, std::move(facts)));
  }
  // Of a bundle inside this one (BundleWriter::put_manifest).
  base::Result<> put_manifest(const std::string& folder, std::string_view bytes) {
    return noted(x_writer->put_manifest(folder, bytes));
  }
  // Why something could not be kept; empty: all could.
  const std::string& write_trouble() const { return x_write_trouble; }

 private:
  base::Result<> noted(base::Result<> written) {
    if (!written && x_write_trouble.empty()) x_write_trouble = written.error().message;
    return written;
  }

  std::shared_ptr<BundleWriter> x_writer;
  std::size_t x_source;
  Time x_deadline;
  std::shared_ptr<CaptureClock> x_clock;
  std::shared_ptr<CaptureStop> x_stop;
  std::string x_write_trouble;
};

struct SourceOutcome {
  model::SourceStatus status = model::SourceStatus::kFailed;
  std::string reason = {};
  std::string nccl_version = {};
};

struct CaptureSource {
  std::string id, kind;
  std::string asked_kind, asked;  // without secrets
  // Runs on a thread of its own, which may outlive capture() when it overstays: it must own all that it
  // touches. An exception is an outcome.
  std::function<SourceOutcome(CaptureContext&)> run;
};

struct CaptureResult {
  model::BundleManifest manifest;
  bool anything = false;     // at least one file was kept; of a live capture: one that tells of the job
  bool interrupted = false;  // by CaptureStop
  std::string trouble;       // the bundle could not be written to its end; empty: it could
};

// Fails when the folder cannot be made or is not empty.
base::Result<CaptureResult> capture(const CaptureSettings& settings, std::vector<CaptureSource> sources);

}  // namespace unhang::collect
