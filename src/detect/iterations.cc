// SPDX-License-Identifier: Apache-2.0
#include "detect/iterations.h"

#include <algorithm>
#include <vector>

namespace unhang::detect {
namespace {

constexpr std::size_t kMostCalls = 8192;
constexpr std::size_t kRepetitions = 3;

// z[i]: how far calls[i..] equals calls[0..] (Gusfield's Z algorithm: linear).
std::vector<std::size_t> z_function(const std::vector<std::uint64_t>& calls) {
  std::vector<std::size_t> z(calls.size(), 0);
  std::size_t left = 0;
  std::size_t right = 0;
  for (std::size_t i = 1; i < calls.size(); ++i) {
    if (i < right) z[i] = std::min(right - i, z[i - left]);
    while (i + z[i] < calls.size() && calls[z[i]] == calls[i + z[i]]) ++z[i];
    if (i + z[i] > right) {
      left = i;
      right = i + z[i];
    }
  }
  return z;
}

}  // namespace

std::optional<Period> find_period(const model::Case& joined, model::GroupIndex group) {
  const model::Rank* longest = nullptr;
  const model::Lane* lane = nullptr;
  for (const model::RankIndex index : joined.groups[group].members) {
    const model::Lane* candidate = joined.ranks[index].lane(group);
    if (candidate == nullptr ||
        (lane != nullptr && candidate->collectives.size() <= lane->collectives.size()))
      continue;
    lane = candidate;
    longest = &joined.ranks[index];
  }
  if (lane == nullptr || lane->collectives.size() < 2 * kRepetitions) return std::nullopt;
  // Newest first: the end of the list is where the program still did what it always does.
  std::vector<std::uint64_t> calls;
  const std::size_t count = std::min(kMostCalls, lane->collectives.size());
  for (std::size_t k = 0; k < count; ++k) {
    const auto& op = longest->operations[lane->collectives[lane->collectives.size() - 1 - k]];
    const auto& signature = joined.signature(op);
    // Sizes of an all_to_all change with the data; the call is the same.
    const bool sizes_vary = signature.kind == model::OpKind::kAllToAll;
    calls.push_back(std::uint64_t{signature.name} << 32 | (sizes_vary ? 0 : signature.input_shapes));
  }
  const auto z = z_function(calls);
  for (std::size_t p = 1; p * kRepetitions <= calls.size(); ++p) {
    if (z[p] < p * (kRepetitions - 1)) continue;
    if (p == 1) return std::nullopt;
    const std::size_t repeated = z[p] + p;  // calls, from the newest, that follow the period
    const auto& newest = longest->operations[lane->collectives.back()];
    const std::int64_t oldest = newest.collective_sequence - static_cast<std::int64_t>(repeated) + 1;
    return Period{static_cast<std::int64_t>(p), std::max<std::int64_t>(oldest, 0)};
  }
  return std::nullopt;
}

}  // namespace unhang::detect
