// SPDX-License-Identifier: Apache-2.0
#include "formats/log/writers.h"

#include <algorithm>
#include <cstring>
#include <string>

namespace unhang::formats::log {
namespace {

std::uint64_t mixed(std::uint64_t hash, std::uint64_t value) {
  hash = (hash ^ value) * 0x9e3779b97f4a7c15ull;
  return hash ^ (hash >> 32);
}

std::uint64_t both(std::int64_t a, std::int64_t b) {
  return static_cast<std::uint64_t>(a) << 32 ^ static_cast<std::uint32_t>(b);
}

// Its last 16 bytes: names of nodes and pods differ at their end.
std::uint64_t mixed(std::uint64_t hash, std::string_view text) {
  hash = mixed(hash, text.size());
  for (int i = 0; i < 2 && !text.empty(); ++i) {
    const std::size_t n = std::min(text.size(), sizeof(std::uint64_t));
    std::uint64_t value = 0;
    std::memcpy(&value, text.data() + text.size() - n, n);
    hash = mixed(hash, value);
    text.remove_suffix(n);
  }
  return hash;
}

bool same(const model::LogOrigin& origin, const Prefix& prefix) {
  return origin.pid == prefix.pid && origin.cuda_device == prefix.cuda_device &&
         origin.global_rank == prefix.global_rank && origin.local_rank == prefix.local_rank &&
         origin.host == prefix.host && origin.label == prefix.label;
}

}  // namespace

std::uint64_t writer_hash(const Prefix& prefix) {
  std::uint64_t hash = mixed(0, both(prefix.pid, prefix.cuda_device));
  hash = mixed(hash, both(prefix.global_rank, prefix.local_rank));
  return mixed(mixed(hash, prefix.host), prefix.label);
}

std::uint32_t Writers::of(const Prefix& prefix, std::uint64_t hash) {
  // Two places for each, so that two busy writers do not push each other out.
  const std::size_t first = hash % kSlots & ~std::size_t{1};
  for (const std::size_t at : {first, first + 1}) {
    const std::uint32_t slot = x_slots[at];
    if (slot != kNobody && same(x_facts.log().origins[slot], prefix)) return slot;
  }
  model::LogOrigin origin;
  origin.host = std::string(prefix.host);
  origin.label = std::string(prefix.label);
  origin.pid = prefix.pid;
  origin.global_rank = prefix.global_rank;
  origin.local_rank = prefix.local_rank;
  origin.cuda_device = prefix.cuda_device;
  x_slots[first + 1] = x_slots[first];
  return x_slots[first] = x_facts.origin(origin);
}

}  // namespace unhang::formats::log
