// SPDX-License-Identifier: Apache-2.0
#include "detect/replica_progress.h"

#include <algorithm>

namespace unhang::detect {
namespace {

using model::EngineKind;
using model::EngineSeries;

constexpr int kSteadyMoves = 2;     // readings with tokens that make a history
constexpr int kUnbroken = 10;       // the same where requests are short and replaced all the time
constexpr int kReadingsToTell = 2;  // without growth before anything is said, and with it before it is unsaid
constexpr std::int64_t kShortest = 900'000'000;
constexpr double kCacheStep = 1e-9;

bool grew(const std::optional<double>& before, const std::optional<double>& now) {
  return before && now && *now > *before;
}
bool fell(const std::optional<double>& before, const std::optional<double>& now) {
  return before && now && *now < *before;
}

}  // namespace

void SilenceMemory::forget(std::int64_t now_ns, std::int64_t remember_ns) {
  if (now_ns - x_since_ns < remember_ns) return;
  x_before = now_ns - x_since_ns < 2 * remember_ns ? x_now : 0;
  x_now = 0;
  x_since_ns = now_ns;
}

void SilenceMemory::learn(std::int64_t silence_ns, std::int64_t now_ns, std::int64_t remember_ns) {
  forget(now_ns, remember_ns);
  x_now = std::max(x_now, silence_ns);
}

bool ReplicaProgress::falls(const EngineSeries& next) const {
  return x_seen &&
         (fell(x_last.prompt_tokens, next.prompt_tokens) ||
          fell(x_last.generation_tokens, next.generation_tokens) || fell(x_last.steps, next.steps) ||
          fell(x_last.finished_requests, next.finished_requests) ||
          fell(x_last.token_events, next.token_events));
}

ReplicaProgress::Growth ReplicaProgress::growth_to(const EngineSeries& next) const {
  Growth growth;
  growth.finished = grew(x_last.finished_requests, next.finished_requests);
  growth.decode = grew(x_last.generation_tokens, next.generation_tokens) || grew(x_last.steps, next.steps) ||
                  grew(x_last.token_events, next.token_events);
  growth.any = growth.decode || grew(x_last.prompt_tokens, next.prompt_tokens);
  // Ends of requests are work only where nothing finer is counted: clients give up while an engine hangs.
  const bool finer = next.generation_tokens || next.steps || next.token_events || next.prompt_tokens;
  if (!finer) growth.any = growth.finished;
  return growth;
}

bool ReplicaProgress::is_busy() const {
  return x_last.running.value_or(0) > 0 || x_last.waiting.value_or(0) > 0;
}

bool ReplicaProgress::made_nothing() const {
  const auto none = [](const std::optional<double>& value) { return value.value_or(0) <= 0; };
  return none(x_last.prompt_tokens) && none(x_last.generation_tokens) && none(x_last.steps) &&
         none(x_last.finished_requests) && none(x_last.token_events);
}

bool ReplicaProgress::is_young(std::optional<std::int64_t> age_ns, std::int64_t now_ns) const {
  // Without an age only a process that was seen to begin, or to have made nothing, may be young.
  if (!age_ns && !x_restarted && !x_began_with_nothing) return false;
  const std::int64_t limit = is_busy() ? x_windows.young_ns : x_windows.young_ns / 5;
  return age_ns.value_or(now_ns - x_first_ns) < limit;
}

bool ReplicaProgress::counts_only_ends() const {
  if (x_last.steps || x_last.token_events) return false;
  if (!x_last.generation_tokens) return !x_last.prompt_tokens;
  const bool may_count_ends = x_engine == EngineKind::kSglang || x_engine == EngineKind::kTensorRtLlm;
  return may_count_ends && x_token_moves > 0 && x_token_moves == x_moves_at_ends;
}

std::string ReplicaProgress::find_blindness() const {
  if (!x_last.running && !x_last.waiting) return "the page does not say how many requests run";
  if (!x_last.prompt_tokens && !x_last.generation_tokens && !x_last.steps && !x_last.finished_requests &&
      !x_last.token_events) {
    return "the page has gauges only: nothing on it can be seen to move";
  }
  return {};
}

bool ReplicaProgress::steady() const {
  // With the cache's usage on the page a prompt that is being read can be seen.
  const bool short_requests = x_unbroken >= kUnbroken && x_last.kv_usage;
  return (x_decode_moves >= kSteadyMoves || short_requests) && !counts_only_ends();
}

std::int64_t ReplicaProgress::window_ns() const {
  const std::int64_t shortest = std::max(kShortest, x_windows.interval_ns * 3 / 2);
  if (steady()) {
    return std::min(std::max(shortest, x_steady_silences.longest_ns() * 3 / 2),
                    std::max(x_windows.long_ns, shortest));
  }
  const std::int64_t silence = std::max(x_other_silences.longest_ns(), x_steady_silences.longest_ns());
  const std::int64_t wanted = std::max(x_windows.long_ns, silence * 2);
  return std::max(std::min(wanted, x_windows.longest_ns), shortest);
}

void ReplicaProgress::note_growth(const Growth& growth, const EngineSeries& before, std::int64_t now_ns) {
  const std::int64_t silence = now_ns - x_anchor_ns;
  // What was called a stall and ended by itself soon may have been none: the next such silence need not be
  // called one at once. A long one teaches nothing.
  if (x_quiet > 0 && (!x_stopped || silence < x_windows.long_ns)) {
    // Silences before the first token are those of prompts.
    SilenceMemory& memory = x_decode_moves > 0 || x_unbroken > 0 ? x_steady_silences : x_other_silences;
    memory.learn(silence, now_ns, x_windows.remember_ns);
  }
  if (x_quiet > 0) x_unbroken = 0;
  x_moved_ever = true;
  x_moved_ns = x_anchor_ns = now_ns;
  x_quiet = 0;
  if (growth.decode) ++x_decode_moves;
  x_unbroken = growth.decode ? x_unbroken + 1 : 0;
  if (grew(before.generation_tokens, x_last.generation_tokens)) {
    ++x_token_moves;
    if (growth.finished) ++x_moves_at_ends;
  }
  // As many have ended as had run: what runs now may all be new, and in its prefill.
  const double ended = x_last.finished_requests.value_or(0) - before.finished_requests.value_or(0);
  if (growth.finished && ended >= before.running.value_or(0)) x_decode_moves = 0;
  if (x_stopped && (++x_recovering >= kReadingsToTell || !is_busy())) {
    x_stopped = false;
    x_decode_moves = 0;
  }
}

void ReplicaProgress::note_silence(const EngineSeries& before, std::int64_t now_ns) {
  x_recovering = 0;
  const bool was_busy = before.running.value_or(0) > 0 || before.waiting.value_or(0) > 0;
  if (!is_busy() || !was_busy) {  // work has ended, or begins
    x_quiet = x_decode_moves = x_unbroken = 0;
    if (is_busy()) x_anchor_ns = now_ns;
    return;
  }
  ++x_quiet;
  if (x_last.running && *x_last.running <= 0) x_decode_moves = x_unbroken = 0;  // all of it waits
  // Chunks of a prompt fill the cache before the first token. A cache that empties proves nothing: clients
  // that give up free it, too.
  if (before.kv_usage && x_last.kv_usage && *x_last.kv_usage > *before.kv_usage + kCacheStep) {
    x_anchor_ns = now_ns;
    x_decode_moves = x_unbroken = 0;
  }
}

EngineMovement ReplicaProgress::judge(std::optional<std::int64_t> age_ns, std::int64_t now_ns) const {
  if (x_stopped) return EngineMovement::kStopped;
  const bool starts = !x_moved_ever && (made_nothing() || x_restarted) && is_young(age_ns, now_ns);
  if (!is_busy()) return starts && made_nothing() ? EngineMovement::kStarting : EngineMovement::kIdle;
  if (x_moved_now) return EngineMovement::kAdvancing;
  if (starts) return EngineMovement::kStarting;
  if (x_quiet >= kReadingsToTell && now_ns - x_anchor_ns >= window_ns()) return EngineMovement::kStopped;
  return EngineMovement::kQuiet;
}

void ReplicaProgress::observe(const EngineSeries& next, EngineKind engine, std::optional<std::int64_t> age_ns,
                              std::int64_t now_ns) {
  x_engine = engine;
  x_steady_silences.forget(now_ns, x_windows.remember_ns);
  x_other_silences.forget(now_ns, x_windows.remember_ns);
  if (!x_seen) {
    x_seen = true;
    x_last = next;
    x_first_ns = x_anchor_ns = now_ns;
    x_began_with_nothing = made_nothing();
    x_moved_now = false;
  } else {
    const Growth growth = growth_to(next);
    const EngineSeries before = std::move(x_last);
    x_last = next;
    x_moved_now = growth.any;
    if (growth.any) {
      note_growth(growth, before, now_ns);
    } else {
      note_silence(before, now_ns);
    }
  }
  x_why_not = find_blindness();
  x_movement = usable() ? judge(age_ns, now_ns) : EngineMovement::kUnknown;
  x_stopped = x_movement == EngineMovement::kStopped;
}

}  // namespace unhang::detect
