// SPDX-License-Identifier: Apache-2.0
//
// Numbers that look random and are the same on every machine. The distributions of <random> differ between
// standard libraries, so none is used. Most of the simulation asks hash(seed, who, which): the answer then
// does not depend on the order in which ranks are worked off.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>

namespace unhang::simulate {

// The finalizer of splitmix64: a bijection whose output bits each depend on all input bits.
constexpr std::uint64_t mix(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15U;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9U;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBU;
  return x ^ (x >> 31);
}

constexpr std::uint64_t hash(std::initializer_list<std::uint64_t> parts) {
  std::uint64_t h = 0;
  for (const std::uint64_t part : parts) h = mix(h ^ part);
  return h;
}

class Random {
 public:
  explicit Random(std::uint64_t seed) : x_state(mix(seed)) {}

  std::uint64_t next() { return mix(x_state++); }

  // In [0, bound); bound > 0. The bias of the remainder is of no matter at these sizes.
  std::size_t below(std::size_t bound) { return static_cast<std::size_t>(next() % bound); }

 private:
  std::uint64_t x_state;
};

}  // namespace unhang::simulate
