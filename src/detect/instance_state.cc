// SPDX-License-Identifier: Apache-2.0
#include "detect/instance_state.h"

#include <algorithm>

#include <fmt/format.h>

namespace unhang::detect {
namespace {

using model::State;

constexpr int kBlindRounds = 3;      // with tokens and without counts
constexpr int kReturningRounds = 2;  // with movement, before a stall is over
constexpr int kRasHistory = 2;       // rounds with movement that make a history
constexpr int kMuteRounds = 2;
constexpr std::int64_t kRasAlone = 10'000'000'000;  // a lag without any history

constexpr std::string_view kBlind =
    "its counts do not move although tokens do: collectives in CUDA graphs do not count";

std::string seconds(std::int64_t ns) {
  const double value = static_cast<double>(ns) / 1e9;
  return value < 10 ? fmt::format("{:.1f} s", value) : fmt::format("{:.0f} s", value);
}

}  // namespace

struct InstanceTracker::Round {
  const std::vector<EngineReading>& engines;
  const std::optional<RasSignal>& ras;
  std::int64_t now_ns = 0;
  const EngineReading* engine = nullptr;  // the usable one that says most; null: none is usable
  bool engine_moved = false;              // some counter of some engine grew
  bool ras_usable = false;                // it answered, and is not blind
  bool ras_moved = false;
  bool lagging = false;  // for two readings
  bool restarted = false;

  EngineMovement movement() const { return engine->judgement.movement; }
  std::int64_t silence() const { return now_ns - engine->judgement.silent_since_ns; }
};

void InstanceTracker::follow_ras(Round& round) {
  if (!round.ras || !round.ras->usable) return;
  const RasSignal& ras = *round.ras;
  round.ras_moved = ras.last_moved_ns && ras.last_moved_ns > x_ras_moved_ns;
  if (round.ras_moved) {
    x_ras_moved_ns = ras.last_moved_ns;
    ++x_ras_moves;
    x_tokens_without_ras = 0;
  } else if (round.engine_moved && ras.fresh) {
    ++x_tokens_without_ras;
  }
  round.ras_usable = x_tokens_without_ras < kBlindRounds;
  round.lagging = round.ras_usable && ras.movement == RasMovement::kLagging && ras.lag_since_ns &&
                  round.now_ns - *ras.lag_since_ns >= two_readings_ns();
}

std::optional<InstanceTracker::Opinion> InstanceTracker::find_death(const Round& round) const {
  if (round.engine_moved) return std::nullopt;
  if (round.ras && round.ras->usable && !round.ras->lost.empty()) {
    return Opinion{
        State::kDead, fmt::format("RAS has declared the process of {} dead", round.ras->lost), {}, false};
  }
  // vLLM says 503 only when its engine process has died; others say so for other reasons, too.
  const auto died = [](const EngineReading& engine) {
    return engine.kind == model::EngineKind::kVllm && engine.health == 503;
  };
  if (x_was_healthy && std::any_of(round.engines.begin(), round.engines.end(), died)) {
    return Opinion{State::kDead, "the engine says that it died (/health answers 503)", {}, false};
  }
  return std::nullopt;
}

InstanceTracker::Opinion InstanceTracker::decide_quiet(const Round& round) const {
  const EngineJudgement& engine = round.engine->judgement;
  const std::string silence = seconds(round.silence());
  if (engine.quiet_readings >= 2 && round.lagging) {
    return {
        State::kStopped,
        fmt::format("requests run and no token was made for {}, and RAS sees ranks behind that do not move",
                    silence),
        std::min(engine.silent_since_ns, *round.ras->lag_since_ns), true};
  }
  if (round.ras_usable && round.ras_moved) {
    return {State::kAdvancing, fmt::format("collectives are launched; no token for {}", silence), {}, false};
  }
  if (engine.quiet_readings < 2 && x_latest.state == State::kAdvancing) {
    return {State::kAdvancing, "tokens were made until the reading before", {}, false};
  }
  if (engine.quiet_readings == 0) {
    return {State::kUnknown,
            "requests run; the next reading will show whether anything moves",
            {},
            round.lagging};
  }
  return {State::kUnknown,
          fmt::format("requests run and nothing moved for {}: a stall, or a long prompt", silence),
          {},
          round.lagging};
}

InstanceTracker::Opinion InstanceTracker::decide_with_engine(const Round& round) const {
  const EngineJudgement& engine = round.engine->judgement;
  switch (round.movement()) {
    case EngineMovement::kStopped:
      if (round.ras_usable && round.ras_moved) {
        return {
            State::kSlow,
            fmt::format("no token for {}, though collectives are still launched", seconds(round.silence())),
            {},
            false};
      }
      return {State::kStopped,
              fmt::format("{} requests run and neither a token nor a step was made for {}", engine.running,
                          seconds(round.silence())),
              engine.silent_since_ns, round.lagging};
    case EngineMovement::kAdvancing:
      return {State::kAdvancing, "tokens are made", {}, false};
    case EngineMovement::kQuiet:
      return decide_quiet(round);
    case EngineMovement::kStarting:
      return {State::kStarting,
              round.restarted || engine.restarts > 0 ? "the engine began anew and has made nothing yet"
                                                     : "the engine is young and has made nothing yet",
              {},
              round.lagging};
    case EngineMovement::kIdle:
      if (!round.lagging || x_lags_when_idle) return {State::kIdle, "no request runs or waits", {}, false};
      // vLLM sets its gauges after a step: in the first step after idleness they still say that nothing runs.
      return {State::kUnknown,
              "the engine says that nothing runs, but RAS sees ranks behind that do not move",
              {},
              true};
    case EngineMovement::kUnknown:
      break;
  }
  return {State::kUnknown, "the engine's counters do not tell", {}, round.lagging};
}

InstanceTracker::Opinion InstanceTracker::decide_by_ras(const Round& round) const {
  if (!round.ras_usable) {
    return {State::kUnknown,
            round.ras && round.ras->usable ? "no usable signal: RAS is blind here, and no engine answers"
                                           : "no signal that could be used answered",
            {},
            false};
  }
  const RasSignal& ras = *round.ras;
  if (round.ras_moved) return {State::kAdvancing, "collectives are launched", {}, false};
  if (round.lagging) {
    const std::int64_t lag = round.now_ns - *ras.lag_since_ns;
    if (x_ras_moves >= kRasHistory || lag >= kRasAlone) {
      return {State::kStopped,
              fmt::format("ranks are behind and nobody has launched anything for {}", seconds(lag)),
              ras.last_moved_ns.value_or(*ras.lag_since_ns), true};
    }
    return {State::kUnknown,
            fmt::format("ranks are behind for {}, too short to say more", seconds(lag)),
            {},
            true};
  }
  if (ras.movement == RasMovement::kAdvancing)
    return {State::kAdvancing, "collectives were launched just now", {}, false};
  if (ras.movement == RasMovement::kStanding) {
    return {State::kUnknown,
            "all ranks have launched the same and stand: idle, or all wait in one operation; only a second "
            "signal "
            "(--engine) can tell",
            {},
            false};
  }
  return {State::kUnknown, "too few answers of RAS to tell", {}, false};
}

InstanceTracker::Opinion InstanceTracker::decide(const Round& round) const {
  if (const auto death = find_death(round)) return *death;
  if (round.engine != nullptr) return decide_with_engine(round);
  // An engine opens its port, or exports its counters, when the weights are loaded and graphs are captured.
  const bool may_start = std::any_of(
      round.engines.begin(), round.engines.end(),
      [](const EngineReading& engine) { return engine.judgement.movement == EngineMovement::kStarting; });
  const bool none_ever_answered =
      !round.engines.empty() &&
      std::none_of(round.engines.begin(), round.engines.end(),
                   [](const EngineReading& engine) { return engine.ever_answered; });
  const bool young = round.now_ns - x_first_ns < x_windows.young_ns;
  if (may_start) return {State::kStarting, "the engine answers and has no counters yet", {}, round.lagging};
  if (none_ever_answered && young && round.ras && round.ras->usable && !round.ras_moved) {
    return {State::kStarting, "RAS answers and the engine does not yet", {}, round.lagging};
  }
  return decide_by_ras(round);
}

// Once stopped, only movement in two rounds, a restart, a death or a silence of all signals ends it: an
// answer that is missing, or requests that are given up, are no movement.
InstanceTracker::Opinion InstanceTracker::keep_stopped(const Round& round, Opinion opinion) {
  if (opinion.state == State::kStopped) {
    x_stopped_why = opinion.why;
    return opinion;
  }
  const bool done =
      round.engine != nullptr && round.engine_moved && round.movement() == EngineMovement::kIdle;
  if (x_latest.state != State::kStopped || opinion.state == State::kDead || round.restarted || done ||
      x_moving_rounds >= kReturningRounds || x_mute_rounds >= kMuteRounds) {
    return opinion;
  }
  return {State::kStopped,
          x_moving_rounds > 0 ? "something moved once; whether it goes on will show" : x_stopped_why,
          x_latest.since_ns, true};
}

std::vector<model::SignalState> InstanceTracker::signals(const Round& round) const {
  std::vector<model::SignalState> out;
  for (const EngineReading& engine : round.engines) {
    const EngineJudgement& judgement = engine.judgement;
    out.push_back(
        {engine.name, judgement.usable, judgement.why_not, judgement.last_moved_ns, judgement.says});
  }
  if (round.ras) {
    const bool blind = round.ras->usable && !round.ras_usable;
    out.push_back({round.ras->name, round.ras_usable, blind ? std::string(kBlind) : round.ras->why_not,
                   round.ras->last_moved_ns, round.ras->says});
  }
  return out;
}

std::vector<std::string> InstanceTracker::findings(const Round& round, State state) const {
  std::vector<std::string> out;
  for (const EngineReading& engine : round.engines) {
    if (state == State::kStopped && engine.health == 200) {
      out.push_back(
          fmt::format("/health of {} answers 200 all the while: it does not see this stall", engine.name));
    }
    if (engine.health && *engine.health != 200) {
      out.push_back(fmt::format("/health of {} answers {}", engine.name, *engine.health));
    }
  }
  if (round.ras_usable && round.ras->movement == RasMovement::kAdvancing && !round.ras->lags.empty()) {
    out.push_back(fmt::format("{} is behind and stands, while other communicators advance", round.ras->lags));
  }
  if (round.ras && round.ras->usable && !round.ras->silent.empty()) {
    out.push_back(fmt::format("RAS got no answer from the process of {}", round.ras->silent));
  }
  if (round.ras && round.ras->usable && !round.ras->lost.empty() && state != State::kDead) {
    out.push_back(
        fmt::format("RAS has declared the process of {} dead, yet tokens are made", round.ras->lost));
  }
  if (round.restarted) out.push_back("the engine began anew: its history begins here");
  return out;
}

model::InstanceState InstanceTracker::update(const std::vector<EngineReading>& engines,
                                             const std::optional<RasSignal>& ras, std::int64_t now_ns) {
  if (!x_begun) x_first_ns = now_ns;
  Round round{engines, ras, now_ns};
  int restarts = 0;
  bool any_moved_ns = false;
  for (const EngineReading& engine : engines) {
    restarts += engine.judgement.restarts;
    round.engine_moved = round.engine_moved || engine.judgement.moved_now;
    if (engine.health == 200) x_was_healthy = true;
    if (engine.judgement.last_moved_ns > x_moved_ns) {
      x_moved_ns = engine.judgement.last_moved_ns;
      x_moved_last = engine.name;
      any_moved_ns = true;
    }
    if (!engine.judgement.usable) continue;
    if (round.engine == nullptr || weight_of(engine.judgement.movement) > weight_of(round.movement()))
      round.engine = &engine;
  }
  round.restarted = restarts > x_restarts;
  x_restarts = restarts;
  follow_ras(round);
  if (round.ras_moved && !any_moved_ns && ras->last_moved_ns > x_moved_ns) {
    x_moved_ns = ras->last_moved_ns;
    x_moved_last = ras->name;
  }
  x_moving_rounds = round.engine_moved || round.ras_moved ? x_moving_rounds + 1 : 0;
  x_mute_rounds = round.engine == nullptr && !round.ras_usable ? x_mute_rounds + 1 : 0;
  const bool idle = round.engine != nullptr && round.movement() == EngineMovement::kIdle;
  if (x_lag_while_idle && round.engine_moved) x_lags_when_idle = true;
  x_lag_while_idle = idle && (round.lagging || x_lag_while_idle);

  const Opinion opinion = keep_stopped(round, decide(round));
  const bool changed = !x_begun || opinion.state != x_latest.state;
  x_begun = true;
  x_latest.name = x_name;
  if (changed) x_latest.since_ns = opinion.since_ns.value_or(now_ns);
  x_latest.state = opinion.state;
  x_latest.why = opinion.why;
  x_latest.moved_last = x_moved_last;
  x_latest.last_moved_ns = x_moved_ns;
  x_latest.lags.clear();
  if (opinion.names_laggards && ras && ras->usable)
    x_latest.lags = ras->lags.empty() ? ras->silent : ras->lags;
  if (x_latest.lags.empty() && opinion.state == State::kStopped && round.engine != nullptr) {
    x_latest.lags = round.engine->judgement.lags;
  }
  x_latest.signals = signals(round);
  x_latest.findings = findings(round, opinion.state);
  return x_latest;
}

}  // namespace unhang::detect
