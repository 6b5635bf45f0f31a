// SPDX-License-Identifier: Apache-2.0
//
// A day in the life of an engine, made to order with a clock of its own: bursts, idleness, long prompts,
// graph capture, restarts, dropped traffic, readings that fail, and stalls whose beginning is known. What a
// metric page and RAS would show is asked for at any moment of it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "detect/instance_state.h"

namespace unhang::detect {

struct DayKind {
  // How the engine counts. vLLM: nothing moves in a prefill but the cache's usage. SGLang: tokens count when
  // a request ends, parts of answers at once. Old: no cache usage on the page, prompts stop everything.
  enum class Engine { kVllm, kSglang, kOld } engine = Engine::kVllm;
  enum class Ras { kNone, kEager, kGraphs } ras = Ras::kNone;
};

class EngineDay {
 public:
  EngineDay(DayKind kind, std::uint64_t seed) : x_kind(kind), x_random(seed * 2654435761u + 99991u) {
    boot();
  }

  static constexpr std::int64_t kTick = 100'000'000;                 // ns
  static constexpr std::int64_t kBegin = 1'796'000'000'000'000'000;  // ns since 1970

  std::int64_t now_ns() const { return x_now; }
  bool stalled() const { return x_phase == Phase::kStalled; }
  bool is_down() const { return x_phase == Phase::kDown; }
  std::int64_t stalled_since_ns() const { return x_stalled_since; }
  // Tokens had come without any silence for ten seconds before, and most of what ran had made some.
  bool stalled_in_a_steady_stream() const { return x_steady_stall; }
  bool answers() const { return x_phase != Phase::kDown && !x_misses; }

  void advance_to(std::int64_t when_ns) {
    while (x_now < when_ns) {
      x_now += kTick;
      tick();
    }
    x_misses = chance(400);  // one reading in 400 fails
  }

  model::EngineSample sample() const {
    model::EngineSample sample;
    sample.engine =
        x_kind.engine == DayKind::Engine::kSglang ? model::EngineKind::kSglang : model::EngineKind::kVllm;
    sample.process_start = static_cast<double>(x_process_start) / 1e9;
    model::EngineSeries series;
    series.labels = "model_name=\"m\"";
    series.running = x_shown_running;
    series.waiting = x_waiting;
    if (x_kind.engine != DayKind::Engine::kOld) series.kv_usage = x_cache;
    series.prompt_tokens = x_prompt;
    series.generation_tokens = x_kind.engine == DayKind::Engine::kSglang ? x_ended_tokens : x_tokens;
    if (x_kind.engine == DayKind::Engine::kVllm) series.steps = x_steps;
    if (x_kind.engine == DayKind::Engine::kSglang) series.token_events = x_tokens;
    series.finished_requests = x_finished;
    sample.series.push_back(series);
    return sample;
  }

  // `before_ns`: the reading before.
  std::optional<RasSignal> ras(std::int64_t before_ns) const {
    if (x_kind.ras == DayKind::Ras::kNone) return std::nullopt;
    RasSignal ras;
    ras.usable = answers();
    if (!ras.usable) {
      ras.why_not = "did not answer";
      return ras;
    }
    ras.last_moved_ns = x_ras_moved;
    const bool moved = x_ras_moved && *x_ras_moved > before_ns;
    ras.movement = moved ? RasMovement::kAdvancing : RasMovement::kStanding;
    if (!moved && x_ras_lags) {
      ras.movement = RasMovement::kLagging;
      ras.lag_since_ns = x_ras_lags;
      ras.lags = "rank 3";
    }
    return ras;
  }

 private:
  enum class Phase { kDown, kCapturing, kIdle, kBusy, kStalled };
  struct Request {
    std::int64_t prefill_left;  // ticks
    std::int64_t decode_left;
    double tokens = 0;
  };

  std::uint64_t random() {
    x_random ^= x_random << 13;
    x_random ^= x_random >> 7;
    x_random ^= x_random << 17;
    return x_random;
  }
  bool chance(std::uint64_t one_in) { return random() % one_in == 0; }
  std::int64_t between(std::int64_t least, std::int64_t most) {
    return least + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(most - least + 1));
  }

  void boot() {
    x_phase = Phase::kDown;
    x_left = between(50, 900);
    x_requests.clear();
    x_shown_running = x_waiting = x_cache = 0;
    x_prompt = x_tokens = x_ended_tokens = x_steps = x_finished = 0;
    x_ras_moved.reset();
    x_ras_lags.reset();
  }
  void launch() {  // collectives from outside of a CUDA graph
    if (x_kind.ras != DayKind::Ras::kNone) x_ras_moved = x_now;
  }
  void arrive() {
    // Most prompts are short; some are very long.
    const std::int64_t longest = x_kind.engine == DayKind::Engine::kOld ? 200 : 600;
    const std::int64_t prefill = chance(25) ? between(30, longest) : between(0, 3);
    x_requests.push_back({prefill, between(20, chance(6) ? 1500 : 200), 0});
  }

  void tick() {
    --x_left;
    switch (x_phase) {
      case Phase::kDown:
        if (x_left <= 0) {
          x_phase = Phase::kCapturing;
          x_left = between(20, 1200);
          x_process_start = x_now;
        }
        return;
      case Phase::kCapturing:  // a warm-up request may run
        x_shown_running = x_left > 0 && x_left < 600 ? 1 : 0;
        if (x_left <= 0) go_idle();
        return;
      case Phase::kIdle:
        if (x_left <= 0) {
          x_phase = Phase::kBusy;
          x_arrivals = between(20, 3000);
          x_rate = static_cast<std::uint64_t>(between(2, 80));
          arrive();
        }
        return;
      case Phase::kBusy:
        work();
        return;
      case Phase::kStalled:
        if (chance(15)) ++x_waiting;
        if (x_kind.engine == DayKind::Engine::kSglang && x_shown_running > 1 && chance(40)) --x_shown_running;
        if (x_left <= 0) boot();
        return;
    }
  }

  void go_idle() {
    x_phase = Phase::kIdle;
    x_left = between(5, 3000);
    x_shown_running = x_waiting = x_cache = 0;
    x_requests.clear();
  }

  void work() {
    if (--x_arrivals > 0 && x_requests.size() < 64 && chance(x_rate)) arrive();
    if (x_arrivals > 0 && chance(20000)) x_requests.clear();  // traffic drops: all clients go away
    if (x_requests.empty() && x_arrivals <= 0) return go_idle();
    if (chance(60000)) return boot();  // killed
    if (!x_requests.empty() && chance(4000)) return stall();
    step();
  }

  void stall() {
    x_phase = Phase::kStalled;
    x_left = between(1500, 3000);
    x_stalled_since = x_now;
    const auto decoding = std::count_if(x_requests.begin(), x_requests.end(),
                                        [](const Request& request) { return request.tokens >= 60; });
    x_steady_stall = x_streamed_ticks >= 100 && decoding >= 4;
    // Half of the stalls leave a rank behind in a collective; the others wait in the same one.
    if (x_kind.ras == DayKind::Ras::kEager && chance(2)) x_ras_lags = x_now;
    // The gauges are of the last step: an engine that stalls in its first one shows nothing, and nobody can
    // know. That is no usable signal, so the stall waits for one.
    if (x_shown_running <= 0) {
      x_shown_running = static_cast<double>(x_requests.size());
    }
  }

  void step() {
    bool prefills = false, decodes = false;
    const bool alone = std::none_of(x_requests.begin(), x_requests.end(),
                                    [](const Request& request) { return request.prefill_left <= 0; });
    // vLLM and SGLang mix chunks of prompts into the steps; the old engine reads a prompt of at most two
    // seconds while others wait, a longer one when it is alone.
    const bool blocks = x_kind.engine == DayKind::Engine::kOld && !alone &&
                        std::any_of(x_requests.begin(), x_requests.end(), [](const Request& r) {
                          return r.prefill_left > 0 && r.prefill_left <= 15;
                        });
    for (Request& request : x_requests) {
      if (request.prefill_left > 0) {
        if (!is_held(request, alone)) {
          --request.prefill_left;
          prefills = true;
        }
        continue;
      }
      if (blocks) continue;
      decodes = true;
      --request.decode_left;
      request.tokens += 3;
      x_tokens += 3;
    }
    if (decodes) x_steps += 4;
    if (prefills) {
      x_cache = std::min(0.9, x_cache + 0.0005);
      launch();
    }
    if (decodes && x_kind.ras == DayKind::Ras::kEager) launch();
    x_streamed_ticks = decodes ? x_streamed_ticks + 1 : 0;
    retire();
    // Every engine sets its gauges after a step.
    const auto held = std::count_if(x_requests.begin(), x_requests.end(),
                                    [&](const Request& request) { return is_held(request, alone); });
    x_shown_running = static_cast<double>(x_requests.size()) - static_cast<double>(held);
    x_waiting = static_cast<double>(held);
  }

  bool is_held(const Request& request, bool alone) const {
    return x_kind.engine == DayKind::Engine::kOld && !alone && request.prefill_left > 15;
  }

  void retire() {
    for (Request& request : x_requests) {
      if (request.prefill_left == 0) {
        x_prompt += 100;
        request.prefill_left = -1;
      }
      if (request.decode_left > 0) continue;
      ++x_finished;
      x_ended_tokens += request.tokens;
      x_cache = std::max(0.0, x_cache - 0.01);
    }
    x_requests.erase(std::remove_if(x_requests.begin(), x_requests.end(),
                                    [](const Request& request) { return request.decode_left <= 0; }),
                     x_requests.end());
  }

  DayKind x_kind;
  std::uint64_t x_random;
  Phase x_phase = Phase::kDown;
  std::int64_t x_now = kBegin;
  std::int64_t x_left = 0;
  std::int64_t x_arrivals = 0;
  std::uint64_t x_rate = 10;
  std::vector<Request> x_requests;
  double x_shown_running = 0, x_waiting = 0, x_cache = 0;
  double x_prompt = 0, x_tokens = 0, x_ended_tokens = 0, x_steps = 0, x_finished = 0;
  std::int64_t x_process_start = kBegin;
  std::int64_t x_stalled_since = 0;
  bool x_steady_stall = false;
  std::int64_t x_streamed_ticks = 0;
  std::optional<std::int64_t> x_ras_moved, x_ras_lags;
  bool x_misses = false;
};

}  // namespace unhang::detect
