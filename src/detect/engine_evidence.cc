// SPDX-License-Identifier: Apache-2.0
#include "detect/engine_evidence.h"

#include <algorithm>
#include <charconv>
#include <string_view>

namespace unhang::detect {
namespace {

// A bundle notes what each file of an engine is: "metrics 200", "health 503".
std::optional<int> health_of(const model::Case& joined, const std::string& engine) {
  constexpr std::string_view kHealth = "health ";
  std::optional<int> status;
  for (const model::BundleManifest& bundle : joined.bundles) {
    for (const model::BundleSource& source : bundle.sources) {
      if (source.asked != engine) continue;
      for (const model::BundleFile& file : source.files) {
        if (!file.note.starts_with(kHealth)) continue;
        int value = 0;
        const char* from = file.note.data() + kHealth.size();
        const char* end = file.note.data() + file.note.size();
        if (std::from_chars(from, end, value).ec == std::errc()) status = value;
      }
    }
  }
  return status;
}

}  // namespace

std::vector<EngineEvidence> judge_engines(const model::Case& joined) {
  std::vector<EngineEvidence> out;
  const auto& readings = joined.engine_readings;  // by engine, then in order of time
  for (std::size_t from = 0; from < readings.size();) {
    std::size_t to = from;
    while (to < readings.size() && readings[to].engine == readings[from].engine) ++to;
    EngineEvidence evidence;
    evidence.engine = readings[from].engine;
    evidence.input = readings[to - 1].input;
    evidence.readings = to - from;
    evidence.timed = std::all_of(readings.begin() + static_cast<std::ptrdiff_t>(from),
                                 readings.begin() + static_cast<std::ptrdiff_t>(to),
                                 [](const auto& reading) { return reading.time_ns.has_value(); });
    EngineProgress progress;
    std::int64_t order = 0;
    for (std::size_t i = from; i < to; ++i)
      progress.observe(readings[i].sample, evidence.timed ? *readings[i].time_ns : ++order);
    evidence.judgement = progress.state();
    evidence.health = health_of(joined, evidence.engine);
    out.push_back(std::move(evidence));
    from = to;
  }
  return out;
}

std::optional<bool> engine_work(const std::vector<EngineEvidence>& engines) {
  std::optional<bool> work;
  for (const EngineEvidence& engine : engines) {
    if (engine.judgement.running > 0 || engine.judgement.waiting > 0) return true;
    if (engine.judgement.movement == EngineMovement::kIdle) work = false;
  }
  return work;
}

}  // namespace unhang::detect
