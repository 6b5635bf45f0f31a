// SPDX-License-Identifier: Apache-2.0
//
// Whether one engine replica makes tokens, from reading after reading of its counters. An engine may honestly
// be silent for long (a prefill of a long prompt moves no counter in vLLM), so two windows are used: a short
// one where the history shows that tokens came at each reading, a long one where it does not; both grow with
// the honest silences that were seen.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "model/engine_sample.h"

namespace unhang::detect {

// All in nanoseconds.
struct EngineWindows {
  std::int64_t interval_ns = 2'000'000'000;      // between two readings
  std::int64_t long_ns = 30'000'000'000;         // silence that is a stall where little is known
  std::int64_t longest_ns = 120'000'000'000;     // the long window never grows beyond
  std::int64_t young_ns = 600'000'000'000;       // a process younger than this that made nothing yet starts
  std::int64_t remember_ns = 1'800'000'000'000;  // an honest silence counts for one to two times this
};

enum class EngineMovement : std::uint8_t {
  kUnknown,
  kIdle,       // nothing runs and nothing waits
  kStarting,   // nothing was made yet, and the process is young
  kAdvancing,  // a counter grew
  kQuiet,      // requests run and no counter grew, not yet for long enough to say more
  kStopped,    // the same for longer than the window
};

// The longest honest silence of the last half hour or so.
class SilenceMemory {
 public:
  void learn(std::int64_t silence_ns, std::int64_t now_ns, std::int64_t remember_ns);
  void forget(std::int64_t now_ns, std::int64_t remember_ns);
  std::int64_t longest_ns() const { return x_now > x_before ? x_now : x_before; }

 private:
  std::int64_t x_now = 0, x_before = 0;
  std::int64_t x_since_ns = 0;
};

// Not thread-safe; one object a replica and life of its process. `now_ns` never falls.
class ReplicaProgress {
 public:
  // `restarted`: the process began anew while it was watched.
  ReplicaProgress(const EngineWindows& windows, bool restarted)
      : x_windows(windows), x_restarted(restarted) {}

  // True where a counter of `next` is below the one that was read last: not the same process.
  bool falls(const model::EngineSeries& next) const;

  // `age_ns`: of the process, where the page tells.
  void observe(const model::EngineSeries& next, model::EngineKind engine, std::optional<std::int64_t> age_ns,
               std::int64_t now_ns);

  EngineMovement movement() const { return x_movement; }
  bool usable() const { return x_why_not.empty(); }
  const std::string& why_not() const { return x_why_not; }
  std::optional<std::int64_t> last_moved_ns() const { return x_moved_ns; }
  std::int64_t silent_since_ns() const { return x_anchor_ns; }
  int quiet_readings() const { return x_quiet; }
  bool moved_now() const { return x_moved_now; }
  bool steady() const;
  std::int64_t window_ns() const;
  const model::EngineSeries& latest() const { return x_last; }

 private:
  struct Growth {
    bool any = false;       // of what shows work
    bool decode = false;    // of what shows that tokens of answers are made
    bool finished = false;  // a request ended
  };
  Growth growth_to(const model::EngineSeries& next) const;
  bool is_busy() const;
  bool made_nothing() const;
  bool is_young(std::optional<std::int64_t> age_ns, std::int64_t now_ns) const;
  // Counts only what has ended, so that silence is ordinary.
  bool counts_only_ends() const;
  std::string find_blindness() const;
  void note_growth(const Growth& growth, const model::EngineSeries& before, std::int64_t now_ns);
  void note_silence(const model::EngineSeries& before, std::int64_t now_ns);
  EngineMovement judge(std::optional<std::int64_t> age_ns, std::int64_t now_ns) const;

  EngineWindows x_windows;
  bool x_restarted;
  model::EngineSeries x_last;
  model::EngineKind x_engine = model::EngineKind::kUnknown;
  bool x_seen = false;
  bool x_began_with_nothing = false;  // the first reading had no work done
  bool x_moved_ever = false;
  bool x_moved_now = false;
  bool x_stopped = false;
  int x_recovering = 0;     // readings with growth since it stopped
  int x_quiet = 0;          // readings without growth in a row, while requests run
  int x_decode_moves = 0;   // readings with tokens since work began, or since all requests were replaced
  int x_unbroken = 0;       // readings with tokens in a row
  int x_token_moves = 0;    // of generation_tokens, ever
  int x_moves_at_ends = 0;  // of those: in which a request ended, too
  std::int64_t x_first_ns = 0;
  std::int64_t x_anchor_ns = 0;  // when it moved last, work began or the KV cache grew
  std::optional<std::int64_t> x_moved_ns;
  SilenceMemory x_steady_silences, x_other_silences;
  EngineMovement x_movement = EngineMovement::kUnknown;
  std::string x_why_not;
};

}  // namespace unhang::detect
