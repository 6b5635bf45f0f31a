// SPDX-License-Identifier: Apache-2.0
#include "join/host_offsets.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <queue>
#include <tuple>

namespace unhang::join {
namespace {

constexpr std::int64_t kMillisecond = 1'000'000;
// PyTorch's watchdog looks every 100 ms: each end is seen late by up to that much, on either side. Where the
// two look in step the differences agree among themselves and are still wrong by it.
constexpr std::int64_t kWatchdogPolling = 100 * kMillisecond;
// Lines have whole seconds more often than not, and the ranks leave the last step of the making one by one.
constexpr std::int64_t kInitialisation = 1'000 * kMillisecond;
constexpr std::size_t kSamplesAtMost = 4096;  // of one pair of hosts

struct Difference {
  std::int64_t offset = 0;  // second minus first
  std::int64_t spread = 0;
  std::uint64_t samples = 0;
  ClockWitness witness = ClockWitness::kCollective;
};

std::int64_t at_quantile(std::vector<std::int64_t>& values, std::size_t numerator, std::size_t denominator) {
  const auto at = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) * numerator / denominator);
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

Difference summary(std::vector<std::int64_t> values, ClockWitness witness) {
  Difference out;
  out.witness = witness;
  out.samples = values.size();
  const std::int64_t low = at_quantile(values, 1, 4);
  const std::int64_t high = at_quantile(values, 3, 4);
  out.offset = at_quantile(values, 1, 2);
  std::int64_t width = 0;
  if (__builtin_sub_overflow(high, low, &width)) width = std::numeric_limits<std::int64_t>::max();
  out.spread = std::max(width / 2, witness == ClockWitness::kCollective ? kWatchdogPolling : kInitialisation);
  return out;
}

std::string basis_text(const Difference& by, const std::string& other) {
  const bool one = by.samples == 1;
  if (by.witness == ClockWitness::kCollective) {
    return std::to_string(by.samples) + (one ? " collective that completes" : " collectives that complete") +
           " together with " + other + "; each end is seen late by up to 100 ms";
  }
  return std::to_string(by.samples) + (one ? " communicator" : " communicators") + " made together with " +
         other + "; lines tell it to about a second";
}

}  // namespace

void HostOffsets::add_host(std::string_view name) {
  if (!name.empty()) x_hosts.emplace(name, 0);
}

void HostOffsets::add(ClockWitness witness, std::string_view a, std::string_view b, const Moments& moments) {
  if (a.empty() || b.empty() || a == b || moments.empty()) return;
  const bool turned = b < a;
  Pair& pair =
      x_pairs[turned ? std::pair(std::string(b), std::string(a)) : std::pair(std::string(a), std::string(b))];
  // The finer witness wins; both together would have no meaning of their own.
  if (!pair.differences.empty() && pair.witness != witness) {
    if (pair.witness < witness) return;
    pair.differences.clear();
  }
  pair.witness = witness;
  for (const auto& [of_a, of_b] : moments) {
    std::int64_t difference = 0;
    if (pair.differences.size() >= kSamplesAtMost) return;
    if (!__builtin_sub_overflow(turned ? of_a : of_b, turned ? of_b : of_a, &difference))
      pair.differences.push_back(difference);
  }
}

std::vector<model::HostClock> HostOffsets::estimate() const {
  std::map<std::string, std::uint64_t, std::less<>> hosts = x_hosts;
  // For each host the others that it was compared with, from its side.
  std::map<std::string_view, std::vector<std::pair<std::string_view, Difference>>> beside;
  for (const auto& [names, pair] : x_pairs) {
    if (pair.differences.empty()) continue;
    const Difference forth = summary(pair.differences, pair.witness);
    hosts[names.first] += forth.samples;
    hosts[names.second] += forth.samples;
    beside[names.first].emplace_back(names.second, forth);
    Difference back = forth;
    if (__builtin_sub_overflow(std::int64_t{0}, forth.offset, &back.offset)) continue;
    beside[names.second].emplace_back(names.first, back);
  }
  if (beside.empty()) return {};
  const auto reference = std::max_element(hosts.begin(), hosts.end(), [](const auto& x, const auto& y) {
    return x.second != y.second ? x.second < y.second : x.first > y.first;
  });
  std::map<std::string_view, model::HostClock> clocks;
  for (const auto& [name, samples] : hosts) {
    model::HostClock& clock = clocks[name];
    clock.host = name;
    clock.basis = "nothing completes together with another host";
  }
  // The finest witness first, then the pair with most samples.
  using Step = std::tuple<ClockWitness, std::int64_t, std::string_view, std::string_view, const Difference*>;
  std::priority_queue<Step, std::vector<Step>, std::greater<>> steps;
  const auto reach = [&](std::string_view from) {
    for (const auto& [to, difference] : beside[from])
      steps.emplace(difference.witness, -static_cast<std::int64_t>(difference.samples), from, to,
                    &difference);
  };
  model::HostClock& first = clocks[reference->first];
  first.known = true;
  first.samples = reference->second;
  first.basis = "the reference";
  reach(reference->first);
  while (!steps.empty()) {
    const auto [witness, minus_samples, from, to, difference] = steps.top();
    steps.pop();
    model::HostClock& clock = clocks[to];
    if (clock.known) continue;
    const model::HostClock& known = clocks[from];
    // Beyond 64 bits it is no clock.
    if (__builtin_add_overflow(known.offset_ns, difference->offset, &clock.offset_ns) ||
        __builtin_add_overflow(known.spread_ns, difference->spread, &clock.spread_ns)) {
      clock.offset_ns = clock.spread_ns = 0;
      continue;
    }
    clock.known = true;
    clock.samples = difference->samples;
    clock.basis = basis_text(*difference, known.host);
    reach(to);
  }
  std::vector<model::HostClock> out;
  for (auto& [name, clock] : clocks) out.push_back(std::move(clock));
  return out;
}

}  // namespace unhang::join
