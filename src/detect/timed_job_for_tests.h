// SPDX-License-Identifier: Apache-2.0
//
// Jobs whose operations have durations, for the tests of slowness: ranks compute, meet in a collective, and
// the transfer takes its time once the last has come. Everything follows from the seed.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "detect/case_builder_for_tests.h"

namespace unhang::detect {

// splitmix64 (Steele, Lea, Flood 2014): the same on every machine.
class TestNoise {
 public:
  explicit TestNoise(std::uint64_t seed) : x_state(seed * 0x9e3779b97f4a7c15ULL + 1) {}
  double uniform() {
    std::uint64_t z = x_state += 0x9e3779b97f4a7c15ULL;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return static_cast<double>((z ^ (z >> 31)) >> 11) / 9007199254740992.0;
  }
  double normal() {
    return std::sqrt(-2 * std::log(uniform() + 1e-12)) * std::cos(6.283185307179586 * uniform());
  }

 private:
  std::uint64_t x_state;
};

struct TimedJob {
  int ranks = 8;
  int steps = 60;
  std::uint64_t seed = 1;
  double compute_ms = 100;
  double compute_noise = 0.005;  // of it, as a normal's standard deviation
  double transfer_ms = 2;
  double transfer_noise = 0.03;
  // What is added to one rank's computation of a step, as a share; what a step's transfers are multiplied by.
  std::function<double(int step, int rank)> late = [](int, int) { return 0.0; };
  std::function<double(int step)> transfer = [](int) { return 1.0; };
  std::vector<std::int64_t> clock_ahead_ms = {};

  CaseBuilder build() const {
    CaseBuilder c(ranks);
    std::vector<model::RankIndex> all;
    for (int rank = 0; rank < ranks; ++rank) all.push_back(static_cast<model::RankIndex>(rank));
    const auto world = c.group("0", "default_pg", all);
    for (const model::RankIndex rank : all) {
      c.host(rank, "node" + std::to_string(rank / 2),
             clock_ahead_ms.empty() ? 0 : clock_ahead_ms[rank] * CaseBuilder::kMillisecond);
    }
    TestNoise noise(seed);
    // Three collectives a step: the first waits for the computation.
    for (int step = 0; step < steps; ++step) {
      std::vector<double> ready;
      for (int rank = 0; rank < ranks; ++rank)
        ready.push_back(compute_ms * (1 + late(step, rank) + compute_noise * noise.normal()));
      c.same_time().end_line(ns(*std::min_element(ready.begin(), ready.end())));
      for (const char* name : {"all_reduce", "all_gather", "all_reduce"}) {
        const double last = *std::max_element(ready.begin(), ready.end());
        const double took = transfer_ms * transfer(step) * std::exp(transfer_noise * noise.normal());
        const double first = *std::min_element(ready.begin(), ready.end());
        c.same_time();
        for (const model::RankIndex rank : all) {
          const double wait = last - ready[rank];
          CallOptions options = std::string(name) == "all_gather" ? elements(1024, 8192) : elements(1048576);
          options.late_ns = ns(ready[rank] - first);
          options.completed_after_ns = ns(last - first + took) + 1;
          options.duration_ms = static_cast<float>(wait + took);
          c.done(world, name, std::vector<model::RankIndex>{rank}, options);
        }
        c.end_line(ns(last - first + took));
        for (double& at : ready) at = 0.02 * std::abs(noise.normal());
      }
    }
    return c;
  }

 private:
  static std::int64_t ns(double ms) { return static_cast<std::int64_t>(ms * 1e6); }
};

}  // namespace unhang::detect
