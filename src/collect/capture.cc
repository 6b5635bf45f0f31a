// SPDX-License-Identifier: Apache-2.0
#include "collect/capture.h"

#include <algorithm>
#include <exception>
#include <system_error>
#include <thread>

namespace unhang::collect {

// Of the budget this much, at most, is for closing the bundle; sources should be done before.
constexpr std::chrono::nanoseconds kClosing = std::chrono::milliseconds(500);
constexpr int kClosingPart = 10;
// How long sources may take to notice that they are to stop.
constexpr std::chrono::nanoseconds kGrace = std::chrono::seconds(1);

void CaptureStop::request() {
  x_requested = true;
  const std::lock_guard lock(x_mutex);
  x_changed.notify_all();
}

bool CaptureContext::wait_until(Time when) const {
  static_cast<void>(x_writer->flush());  // a failure shows when the source ends
  if (when >= x_deadline) return false;
  std::unique_lock lock(x_stop->x_mutex);
  while (!x_stop->x_requested && x_clock->now() < when) x_clock->wait(lock, x_stop->x_changed, when);
  return !x_stop->x_requested;
}

// What the threads of the sources share with the capture; it lives as long as the last of them. CaptureStop's
// mutex and condition serve here, too, so that there is one thing to wait for.
class CaptureRun {
 public:
  CaptureRun(const CaptureSettings& settings, std::shared_ptr<BundleWriter> writer, std::size_t sources)
      : x_settings(settings), x_writer(std::move(writer)), x_running(sources) {}

  void run(std::size_t index, const CaptureSource& source, CaptureClock::Time deadline) {
    CaptureContext context(x_writer, index, deadline, x_settings);
    model::BundleSource outcome;
    outcome.id = source.id;
    outcome.kind = source.kind;
    outcome.asked_kind = source.asked_kind;
    outcome.asked = source.asked;
    outcome.started_ns = x_settings.clock->wall_ns();
    const auto started = x_settings.clock->now();
    SourceOutcome said;
    try {
      said = source.run(context);
    } catch (const std::exception& error) {
      said = {model::SourceStatus::kFailed, error.what(), {}};
    }
    // Who answered and could not be kept did not refuse.
    const std::string& unwritten = context.write_trouble();
    const bool said_nothing =
        said.status != model::SourceStatus::kAnswered && said.status != model::SourceStatus::kPartial;
    outcome.status = !unwritten.empty() && said_nothing ? model::SourceStatus::kFailed : said.status;
    outcome.reason = std::move(said.reason);
    outcome.nccl_version = std::move(said.nccl_version);
    outcome.elapsed_ms =
        std::chrono::duration_cast<std::chrono::milliseconds>(x_settings.clock->now() - started).count();
    const auto ended = x_writer->end_source(index, std::move(outcome));
    const std::lock_guard lock(x_settings.stop->x_mutex);
    // After the end it is only late; before it, the disk may be full.
    if (!ended && !x_over && x_trouble.empty()) x_trouble = ended.error().message;
    if (!unwritten.empty() && !x_over && x_trouble.empty()) x_trouble = unwritten;
    --x_running;
    x_settings.stop->x_changed.notify_all();
  }

  // Until all are done, the time is over or a stop was requested (and the grace has passed).
  void wait(CaptureClock::Time end) {
    CaptureClock& clock = *x_settings.clock;
    CaptureStop& stop = *x_settings.stop;
    std::unique_lock lock(stop.x_mutex);
    bool noticed = false;
    while (x_running > 0 && clock.now() < end) {
      if (stop.x_requested && !noticed) {
        noticed = true;
        end = std::min(end, clock.now() + kGrace);
      }
      clock.wait(lock, stop.x_changed, end);
    }
    x_over = true;
  }

  std::string trouble() const {
    const std::lock_guard lock(x_settings.stop->x_mutex);
    return x_trouble;
  }

 private:
  const CaptureSettings x_settings;
  const std::shared_ptr<BundleWriter> x_writer;
  std::size_t x_running;  // this and what follows: under the mutex of x_settings.stop
  bool x_over = false;
  std::string x_trouble;
};

base::Result<CaptureResult> capture(const CaptureSettings& settings, std::vector<CaptureSource> sources) {
  const auto started = settings.clock->now();
  const auto end = started + settings.budget;
  const auto deadline = end - std::min(kClosing, settings.budget / kClosingPart);
  model::BundleManifest planned = settings.facts;
  if (planned.started_ns == 0) planned.started_ns = settings.clock->wall_ns();
  if (planned.budget_ms == 0)
    planned.budget_ms = std::chrono::duration_cast<std::chrono::milliseconds>(settings.budget).count();
  for (const CaptureSource& source : sources) {
    model::BundleSource plan;
    plan.id = source.id;
    plan.kind = source.kind;
    plan.asked_kind = source.asked_kind;
    plan.asked = source.asked;
    plan.started_ns = planned.started_ns;
    planned.sources.push_back(std::move(plan));
  }
  auto created = BundleWriter::create(settings.folder, std::move(planned));
  if (!created) return base::fail(std::move(created.error()));
  const std::shared_ptr<BundleWriter> writer = std::move(*created);
  const auto run = std::make_shared<CaptureRun>(settings, writer, sources.size());
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const auto source = std::make_shared<CaptureSource>(std::move(sources[i]));
    const auto work = [run, source, i, deadline] { run->run(i, *source, deadline); };
    try {
      std::thread(work).detach();
    } catch (const std::system_error&) {
      source->run = [](CaptureContext&) {
        return SourceOutcome{model::SourceStatus::kFailed, "no thread could be made for it", {}};
      };
      work();
    }
  }
  run->wait(end);
  CaptureResult result;
  result.interrupted = settings.stop->requested();
  result.trouble = run->trouble();
  if (const auto finished = writer->finish(settings.clock->wall_ns(), result.interrupted); !finished)
    result.trouble = finished.error().message;
  result.manifest = writer->manifest();
  result.anything = std::any_of(result.manifest.sources.begin(), result.manifest.sources.end(),
                                [](const auto& source) { return !source.files.empty(); });
  return result;
}

}  // namespace unhang::collect
