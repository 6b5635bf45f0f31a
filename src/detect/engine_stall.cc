// SPDX-License-Identifier: Apache-2.0
//
// An inference engine with requests to work on whose own counters stand. Alone it shows that the instance has
// stopped and not where; with NCCL's counts standing too, and equal, everybody waits in the same operation or
// outside of all.
#include <algorithm>

#include "base/duration.h"
#include "detect/detector.h"
#include "detect/ras_naming.h"
#include "detect/wording.h"

namespace unhang::detect {
namespace {

using model::Category;
using model::Confidence;

constexpr std::int64_t kLongEnough = 30'000'000'000;

std::int64_t silence_of(const Analysis& analysis, const EngineEvidence& engine) {
  const auto& readings = analysis.joined.engine_readings;
  std::int64_t latest = 0;
  for (const model::EngineReading& reading : readings) {
    if (reading.engine == engine.engine) latest = std::max(latest, reading.time_ns.value_or(0));
  }
  return std::max<std::int64_t>(latest - engine.judgement.silent_since_ns, 0);
}

model::EvidenceItem cite(const Analysis& analysis, const EngineEvidence& engine, const std::string& text) {
  model::EvidenceItem item;
  item.file = analysis.joined.inputs[engine.input].path;
  item.text = text;
  return item;
}

// Equal counts that stood while the engine had work: everybody launched the same.
const RasCommunicatorState* standing_equal(const RasAnalysis& ras) {
  const RasCommunicatorState* largest = nullptr;
  for (const RasCommunicatorState& state : ras.communicators) {
    if (!state.stands || !state.skew.counts.empty()) return nullptr;
    if (largest == nullptr || state.communicator->size > largest->communicator->size) largest = &state;
  }
  return largest;
}

}  // namespace

std::vector<Explanation> find_engine_stall(const Analysis& analysis) {
  std::vector<Explanation> out;
  for (const EngineEvidence& engine : analysis.engines) {
    const EngineMovement movement = engine.judgement.movement;
    if (!engine.timed || !engine.judgement.usable ||
        (movement != EngineMovement::kQuiet && movement != EngineMovement::kStopped))
      continue;
    const std::int64_t silence = silence_of(analysis, engine);
    const bool long_enough = movement == EngineMovement::kStopped || silence >= kLongEnough;
    Explanation explanation;
    explanation.state = long_enough ? model::State::kStopped : model::State::kUnknown;
    explanation.category = Category::kInconclusive;
    explanation.strength = Confidence::kLow;
    explanation.tentative = true;
    const std::string fact = engine.judgement.says + ", and no token and no step for " +
                             base::format_duration(std::chrono::seconds(silence / 1'000'000'000));
    explanation.headline = "the engine at " + engine.engine + " stands: " + fact;
    explanation.records.push_back(cite(analysis, engine, fact));
    if (const RasCommunicatorState* state = standing_equal(analysis.ras)) {
      explanation.category = Category::kTransportStall;
      explanation.state = model::State::kStopped;
      explanation.strength = long_enough ? Confidence::kMedium : Confidence::kLow;
      explanation.tentative = !long_enough;
      explanation.headline =
          "the engine has work and makes no token, and the counts of all communicators are equal and "
          "stand: everybody launched the same operation, and it does not finish";
      cite_place(analysis.joined, analysis.ras, *state, "equal counts that stand", explanation);
      explanation.alternatives.push_back(
          {.category = Category::kNotCommunication,
           .cause = "unknown",
           .speaks_for = {"an engine that stands outside of NCCL shows the same counts"},
           .speaks_against = {},
           .decide_by = "stacks of two ranks: py-spy dump --pid PID; are they in a collective?"});
    } else {
      explanation.alternatives.push_back(
          {.category = Category::kHealthy,
           .cause = "unknown",
           .speaks_for = {"a long prompt moves no counter while it is read"},
           .speaks_against = {},
           .decide_by = "watch both signals: unhang watch --ras ADDRESS --engine URL"});
    }
    if (engine.health == 200)
      explanation.rules_out.push_back("the health check as a witness: /health answers 200 all the same");
    out.push_back(std::move(explanation));
  }
  return out;
}

}  // namespace unhang::detect
