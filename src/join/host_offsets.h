// SPDX-License-Identifier: Apache-2.0
//
// From differences between pairs of clocks to one offset for each host: a spanning tree over the pairs with
// most samples, from the host that has most of them. Internal to join/.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/host_clock.h"

namespace unhang::join {

// What two clocks were compared by.
enum class ClockWitness : std::uint8_t {
  kCollective,    // the same collective, seen ended by the watchdogs of both
  kCommunicator,  // the line with which a communicator's making ends
};

class HostOffsets {
 public:
  // `name` takes part, whether it can be compared or not.
  void add_host(std::string_view name);
  // The same moments on the clock of `a` and on that of `b`. Differences that 64 bits cannot hold are none.
  using Moments = std::vector<std::pair<std::int64_t, std::int64_t>>;
  void add(ClockWitness witness, std::string_view a, std::string_view b, const Moments& moments);

  // Ascending host. Empty where no two hosts were compared.
  std::vector<model::HostClock> estimate() const;

 private:
  struct Pair {
    std::vector<std::int64_t> differences;  // of the second host minus the first
    ClockWitness witness = ClockWitness::kCollective;
  };

  std::map<std::string, std::uint64_t, std::less<>> x_hosts;  // with the number of its samples
  std::map<std::pair<std::string, std::string>, Pair> x_pairs;
};

}  // namespace unhang::join
