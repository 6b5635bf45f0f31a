// SPDX-License-Identifier: Apache-2.0
//
// The state of one model instance from two independent signals: NCCL's RAS counts and the engine's counters.
// Neither is believed where it is blind: counts that stand while tokens move (CUDA graphs) say nothing, equal
// counts that stand may be idleness, an engine that is silent may be reading a long prompt. docs/watch.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "detect/engine_progress.h"
#include "model/instance_state.h"

namespace unhang::detect {

enum class RasMovement : std::uint8_t {
  kUnknown,    // too few answers, or they do not tell
  kAdvancing,  // counts grew since the answer before
  kStanding,   // counts are equal and stand: idle, or everybody waits in one operation
  kLagging,    // the same ranks are behind, and neither they nor the others move
};

// What RAS says of the instance at one reading.
struct RasSignal {
  std::string name = "ras";
  bool usable = false;
  std::string why_not;  // where it is not usable: "did not answer: connection refused"
  bool fresh = true;    // of this round; an older answer may stand in for one that is still awaited
  RasMovement movement = RasMovement::kUnknown;
  std::optional<std::int64_t> last_moved_ns;
  std::optional<std::int64_t> lag_since_ns;
  std::string lags;    // who is behind and stands: "rank 3 of b79ec9689dde9dc4 (8)"
  std::string silent;  // whose process gives no answer; empty: all answer
  std::string lost;    // whose process is declared dead; empty: none
  std::string says;    // "2 communicators advance"
};

// One engine page of the instance at one reading.
struct EngineReading {
  std::string name = "engine";
  model::EngineKind kind = model::EngineKind::kUnknown;
  EngineJudgement judgement;
  bool ever_answered = false;
  std::optional<int> health;  // HTTP status of /health; empty: not asked, or no answer
};

// Fed once a round. Not thread-safe. `now_ns`: nanoseconds since 1970, never falls.
class InstanceTracker {
 public:
  InstanceTracker(std::string name, const EngineWindows& windows)
      : x_name(std::move(name)), x_windows(windows) {}

  // `ras` empty: not asked at all.
  model::InstanceState update(const std::vector<EngineReading>& engines, const std::optional<RasSignal>& ras,
                              std::int64_t now_ns);

 private:
  struct Opinion {
    model::State state = model::State::kUnknown;
    std::string why;
    std::optional<std::int64_t> since_ns;
    bool names_laggards = false;
  };
  struct Round;  // one call of update(): the readings and what follows from them

  void follow_ras(Round& round);
  Opinion decide(const Round& round) const;
  Opinion decide_with_engine(const Round& round) const;
  Opinion decide_quiet(const Round& round) const;
  Opinion decide_by_ras(const Round& round) const;
  std::optional<Opinion> find_death(const Round& round) const;
  Opinion keep_stopped(const Round& round, Opinion opinion);
  std::vector<model::SignalState> signals(const Round& round) const;
  std::vector<std::string> findings(const Round& round, model::State state) const;
  std::int64_t two_readings_ns() const { return x_windows.interval_ns * 3 / 2; }

  std::string x_name;
  EngineWindows x_windows;
  model::InstanceState x_latest;
  bool x_begun = false;
  std::int64_t x_first_ns = 0;
  std::string x_stopped_why;
  int x_moving_rounds = 0;  // in a row
  int x_mute_rounds = 0;    // in a row without any usable signal
  int x_restarts = 0;
  // RAS against the engine.
  std::optional<std::int64_t> x_ras_moved_ns;
  int x_ras_moves = 0;            // rounds in which its counts grew
  int x_tokens_without_ras = 0;   // rounds in a row in which tokens were made and no count grew
  bool x_lags_when_idle = false;  // it was seen to lag while the engine idled, and went on
  bool x_lag_while_idle = false;
  bool x_was_healthy = false;
  std::string x_moved_last;
  std::optional<std::int64_t> x_moved_ns;
};

}  // namespace unhang::detect
