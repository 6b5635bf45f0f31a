// SPDX-License-Identifier: Apache-2.0
#include "formats/log/writers.h"

#include <string>

namespace unhang::formats::log {
namespace {

std::uint64_t mixed(std::uint64_t hash, std::uint64_t value) {
  return (hash ^ value) * 0x9e3779b97f4a7c15ull;
}

std::size_t hash_of(const Prefix& prefix) {
  std::uint64_t hash =
      mixed(static_cast<std::uint64_t>(prefix.pid), static_cast<std::uint64_t>(prefix.cuda_device));
  hash = mixed(hash, static_cast<std::uint64_t>(prefix.global_rank));
  hash = mixed(hash, static_cast<std::uint64_t>(prefix.local_rank));
  for (const std::string_view text : {prefix.host, prefix.label}) {
    for (const char c : text.size() > 24 ? text.substr(text.size() - 24) : text) {
      hash = hash * 31 + static_cast<unsigned char>(c);
    }
    hash = mixed(hash, text.size());
  }
  return static_cast<std::size_t>(hash >> 40);
}

bool same(const model::LogOrigin& origin, const Prefix& prefix) {
  return origin.pid == prefix.pid && origin.cuda_device == prefix.cuda_device &&
         origin.global_rank == prefix.global_rank && origin.local_rank == prefix.local_rank &&
         origin.host == prefix.host && origin.label == prefix.label;
}

}  // namespace

std::uint32_t Writers::of(const Prefix& prefix) {
  // Two places for each, so that two busy writers do not push each other out.
  const std::size_t first = hash_of(prefix) % kSlots & ~std::size_t{1};
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
