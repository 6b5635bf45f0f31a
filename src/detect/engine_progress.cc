// SPDX-License-Identifier: Apache-2.0
#include "detect/engine_progress.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace unhang::detect {
namespace {

using model::EngineSample;
using model::EngineSeries;

constexpr double kNanoseconds = 1e9;
constexpr std::size_t kRememberedStarts = 8;
constexpr std::size_t kManyRestarts = 3;  // within kRestartPeriod: not one process that restarts
constexpr std::int64_t kRestartPeriod = 60'000'000'000;
constexpr double kSameStart = 1.0;  // seconds

// Values that the page gives once for all replicas count for each that has none of its own.
void add_shared(EngineSeries& series, const EngineSeries& shared) {
  if (series.prompt_tokens || series.generation_tokens || series.steps || series.token_events) return;
  series.prompt_tokens = shared.prompt_tokens;
  series.generation_tokens = shared.generation_tokens;
  series.steps = shared.steps;
  series.token_events = shared.token_events;
  if (!series.finished_requests) series.finished_requests = shared.finished_requests;
}

void add_up(std::optional<double>& sum, const std::optional<double>& value) {
  if (value) sum = sum.value_or(0) + *value;
}

bool says_what_runs(const EngineSeries& series) {
  return series.running || series.waiting;
}

// The replicas of the page, each with the counters that hold for it.
std::vector<EngineSeries> replicas_of(const EngineSample& sample) {
  EngineSeries shared;
  std::vector<EngineSeries> replicas;
  const bool some_run = std::any_of(sample.series.begin(), sample.series.end(),
                                    [](const EngineSeries& series) { return series.running.has_value(); });
  for (const EngineSeries& series : sample.series) {
    if (some_run ? series.running.has_value() : says_what_runs(series)) {
      replicas.push_back(series);
      continue;
    }
    add_up(shared.prompt_tokens, series.prompt_tokens);
    add_up(shared.generation_tokens, series.generation_tokens);
    add_up(shared.steps, series.steps);
    add_up(shared.token_events, series.token_events);
    add_up(shared.finished_requests, series.finished_requests);
  }
  if (replicas.empty()) replicas.push_back(shared);
  for (EngineSeries& replica : replicas) add_shared(replica, shared);
  return replicas;
}

}  // namespace

int weight_of(EngineMovement movement) {
  switch (movement) {
    case EngineMovement::kStopped:
      return 5;
    case EngineMovement::kAdvancing:
      return 4;
    case EngineMovement::kQuiet:
      return 3;
    case EngineMovement::kStarting:
      return 2;
    case EngineMovement::kIdle:
      return 1;
    case EngineMovement::kUnknown:
      return 0;
  }
  return 0;
}

bool EngineProgress::begins_anew(const EngineSample& sample) {
  if (sample.process_start) {
    const double start = *sample.process_start;
    const bool other = !x_starts.empty() && std::abs(x_starts.back() - start) > kSameStart;
    if (x_starts.empty() || other) {
      x_starts.push_back(start);
      if (x_starts.size() > kRememberedStarts) x_starts.erase(x_starts.begin());
    }
    if (other) return true;
  }
  for (const EngineSeries& series : replicas_of(sample)) {
    const auto known = x_replicas.find(series.labels);
    if (known != x_replicas.end() && known->second.falls(series)) return true;
  }
  return false;
}

void EngineProgress::observe_replicas(const EngineSample& sample, std::int64_t now_ns) {
  const bool anew = begins_anew(sample);
  if (anew) {
    x_replicas.clear();
    ++x_restarts;
    x_restarts_ns.push_back(now_ns);
  }
  while (!x_restarts_ns.empty() && now_ns - x_restarts_ns.front() > kRestartPeriod) {
    x_restarts_ns.erase(x_restarts_ns.begin());
  }
  std::optional<std::int64_t> age;
  if (sample.process_start) {
    const double seconds = static_cast<double>(now_ns) / kNanoseconds - *sample.process_start;
    // A clock that is far ahead of ours tells nothing.
    if (seconds > -60 && seconds < 1e9)
      age = static_cast<std::int64_t>(std::max(seconds, 0.0) * kNanoseconds);
  }
  std::map<std::string, ReplicaProgress> kept;
  for (const EngineSeries& series : replicas_of(sample)) {
    auto known = x_replicas.find(series.labels);
    ReplicaProgress replica = known != x_replicas.end() ? std::move(known->second)
                                                        : ReplicaProgress(x_windows, x_restarts > 0 && anew);
    replica.observe(series, sample.engine, age, now_ns);
    if (replica.last_moved_ns()) x_moved_ns = std::max(*replica.last_moved_ns(), x_moved_ns.value_or(0));
    kept.insert_or_assign(series.labels, std::move(replica));
  }
  x_replicas = std::move(kept);
  if (x_restarts_ns.size() >= kManyRestarts) {
    x_why_not =
        "the counters fall again and again: several processes answer under this address in turn; give the "
        "address of each";
  }
}

void EngineProgress::without_counters(const EngineSample& sample, std::int64_t now_ns) {
  if (sample.engine == model::EngineKind::kTensorRtLlm) {
    x_why_not = "no iteration since the last question: idle and hung look the same; use /prometheus/metrics";
    return;
  }
  x_awaits_counters = !x_had_counters && now_ns - *x_first_ns < x_windows.young_ns;
  x_why_not = x_awaits_counters ? "the engine's counters are not there yet"
                                : "the page has no counters of an engine that unhang knows";
}

void EngineProgress::observe(const EngineSample& sample, std::int64_t now_ns) {
  x_now_ns = now_ns;
  x_why_not.clear();
  x_awaits_counters = false;
  if (!x_first_ns) x_first_ns = now_ns;
  x_ever_answered = true;
  if (sample.series.empty()) {
    without_counters(sample, now_ns);
    return;
  }
  x_had_counters = true;
  observe_replicas(sample, now_ns);
}

void EngineProgress::no_answer(std::string why, std::int64_t now_ns) {
  x_now_ns = now_ns;
  x_awaits_counters = false;
  x_why_not = "did not answer: " + std::move(why);
}

EngineJudgement EngineProgress::state() const {
  EngineJudgement out;
  out.restarts = x_restarts;
  out.last_moved_ns = x_moved_ns;
  if (!x_why_not.empty()) {
    out.why_not = x_why_not;
    if (x_awaits_counters) out.movement = EngineMovement::kStarting;
    return out;
  }
  const ReplicaProgress* judged = nullptr;
  std::size_t stopped = 0;
  for (const auto& [labels, replica] : x_replicas) {
    out.running += replica.latest().running.value_or(0);
    out.waiting += replica.latest().waiting.value_or(0);
    out.moved_now = out.moved_now || replica.moved_now();
    if (replica.movement() == EngineMovement::kStopped) {
      ++stopped;
      out.lags += (out.lags.empty() ? "" : " and ") + labels;
    }
    const bool more_usable = judged != nullptr && replica.usable() && !judged->usable();
    const bool further = judged != nullptr && replica.usable() == judged->usable() &&
                         weight_of(replica.movement()) > weight_of(judged->movement());
    if (judged == nullptr || more_usable || further) judged = &replica;
  }
  if (stopped == x_replicas.size()) out.lags.clear();  // all of them: nobody is behind the others
  if (judged == nullptr) {
    out.why_not = "not asked yet";
    return out;
  }
  out.usable = judged->usable();
  out.why_not = judged->why_not();
  out.movement = judged->movement();
  out.silent_since_ns = judged->silent_since_ns();
  out.quiet_readings = judged->quiet_readings();
  out.says = fmt::format("{} running, {} waiting", out.running, out.waiting);
  return out;
}

}  // namespace unhang::detect
