// SPDX-License-Identifier: Apache-2.0
//
// Progress by the engine's own counters: all replicas of one metric page, reading after reading. Independent
// of NCCL, and not blinded by CUDA graphs. docs/watch.md describes what is concluded and why.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "detect/replica_progress.h"
#include "model/engine_sample.h"

namespace unhang::detect {

// Of several replicas or pages the one with the highest weight speaks for all: a stop before movement before
// the rest.
int weight_of(EngineMovement movement);

struct EngineJudgement {
  EngineMovement movement = EngineMovement::kUnknown;
  bool usable = false;
  std::string why_not;              // where it is not usable
  std::string says;                 // "12 running, 3 waiting"
  double running = 0, waiting = 0;  // over all replicas
  std::optional<std::int64_t> last_moved_ns;
  std::int64_t silent_since_ns = 0;  // for kQuiet and kStopped: since when nothing grew
  int quiet_readings = 0;            // in a row, of the replica that is judged
  bool moved_now = false;            // in the latest reading
  std::string lags;                  // replicas that stand while others do not
  int restarts = 0;                  // seen so far
};

// Fed with one reading after the other of one page. Not thread-safe. `now_ns`: nanoseconds since 1970, never
// falls.
class EngineProgress {
 public:
  explicit EngineProgress(const EngineWindows& windows = {}) : x_windows(windows) {}

  void observe(const model::EngineSample& sample, std::int64_t now_ns);
  // The page could not be read this time; `why` for people: "connection refused".
  void no_answer(std::string why, std::int64_t now_ns);

  // As of the latest reading.
  EngineJudgement state() const;
  bool ever_answered() const { return x_ever_answered; }

 private:
  bool begins_anew(const model::EngineSample& sample);
  void observe_replicas(const model::EngineSample& sample, std::int64_t now_ns);
  void without_counters(const model::EngineSample& sample, std::int64_t now_ns);

  EngineWindows x_windows;
  std::map<std::string, ReplicaProgress> x_replicas;  // by labels
  std::vector<double> x_starts;                       // of processes that answered, newest last
  std::vector<std::int64_t> x_restarts_ns;            // the latest few
  int x_restarts = 0;
  std::optional<std::int64_t> x_first_ns;
  std::optional<std::int64_t> x_moved_ns;  // outlives restarts
  bool x_ever_answered = false;
  bool x_had_counters = false;
  bool x_awaits_counters = false;  // the latest page had none, and may get them yet
  std::int64_t x_now_ns = 0;
  std::string x_why_not;  // of the latest reading; empty: the replicas speak
};

}  // namespace unhang::detect
