// SPDX-License-Identifier: Apache-2.0
#include "formats/log/kept_calls.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace unhang::formats::log {
namespace {

constexpr std::size_t kOfOne = 64;
constexpr std::size_t kOfAll = 1 << 16;
constexpr std::size_t kKinds = 64;  // NCCL has about twenty
constexpr std::size_t kKindBytes = 32;

}  // namespace

std::uint32_t KeptCalls::kind_of(std::string_view name) {
  name = name.substr(0, kKindBytes);
  for (std::uint32_t i = 0; i < x_kinds.size(); ++i) {
    if (x_kinds[i] == name) return i;
  }
  if (x_kinds.size() < kKinds) x_kinds.emplace_back(name);
  return static_cast<std::uint32_t>(x_kinds.size() - 1);
}

void KeptCalls::add(std::uint32_t communicator, const CallLine& read, std::uint64_t line) {
  if (communicator >= x_rings.size()) x_rings.resize(communicator + std::size_t{1});
  if (x_size >= kOfAll) make_room();
  Ring& ring = x_rings[communicator];
  const Call call{.op_count = read.op_count,
                  .count = read.count,
                  .line = line,
                  .datatype = read.datatype,
                  .op = read.op,
                  .root = read.root,
                  .kind = kind_of(read.kind)};
  if (ring.calls.size() < kOfOne) {
    ring.calls.push_back(call);
    ++x_size;
  } else {
    ring.calls[ring.oldest] = call;
    ring.oldest = (ring.oldest + 1) % kOfOne;
  }
}

void KeptCalls::make_room() {
  std::vector<std::pair<std::uint64_t, std::uint32_t>> by_latest;
  for (std::uint32_t i = 0; i < x_rings.size(); ++i) {
    const Ring& ring = x_rings[i];
    if (ring.calls.empty()) continue;
    const std::size_t latest = (ring.oldest + ring.calls.size() - 1) % ring.calls.size();
    by_latest.emplace_back(ring.calls[latest].line, i);
  }
  std::sort(by_latest.begin(), by_latest.end());
  for (const auto& [line, communicator] : by_latest) {
    if (x_size <= kOfAll / 2) return;
    x_size -= x_rings[communicator].calls.size();
    x_rings[communicator] = {};
  }
}

std::vector<model::LogCall> KeptCalls::take() {
  std::vector<model::LogCall> out;
  out.reserve(x_size);
  for (std::uint32_t communicator = 0; communicator < x_rings.size(); ++communicator) {
    const Ring& ring = x_rings[communicator];
    for (std::size_t i = 0; i < ring.calls.size(); ++i) {
      const Call& call = ring.calls[(ring.oldest + i) % ring.calls.size()];
      out.push_back({.communicator = communicator,
                     .op_count = call.op_count,
                     .kind = x_kinds[call.kind],
                     .count = call.count,
                     .datatype = call.datatype,
                     .op = call.op,
                     .root = call.root,
                     .line = call.line});
    }
  }
  *this = {};
  return out;
}

}  // namespace unhang::formats::log
