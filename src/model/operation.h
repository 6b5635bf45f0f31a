// SPDX-License-Identifier: Apache-2.0
//
// One call of one rank in one process group, in a fixed-size record: a million of them is ordinary. What
// repeats (names, shapes, stacks) lives once in a Vocabulary and is named here by id.
#pragma once

#include <cstdint>
#include <limits>

namespace unhang::model {

// What the operation does, whatever the backend calls it. kOther: a name that we don't know; such operations
// are aligned and compared by name only.
enum class OpKind : std::uint8_t {
  kAllReduce,
  kAllGather,
  kReduceScatter,
  kBroadcast,
  kReduce,
  kGather,
  kScatter,
  kAllToAll,
  kBarrier,
  kSend,
  kRecv,
  kCoalesced,
  kOther,
};

enum class OpState : std::uint8_t { kScheduled, kStarted, kCompleted, kUnknown };

using SignatureId = std::uint32_t;
using StackId = std::uint32_t;  // 0: no stack was recorded

struct Operation {
  static constexpr std::uint8_t kP2p = 1;      // point to point: its sequence is p2p_sequence
  static constexpr std::uint8_t kRetired = 2;  // the watchdog has dropped it from its list
  static constexpr std::uint8_t kInner =
      4;  // inside a coalesced block: state and order are those of the closing entry
  static constexpr std::uint8_t kClosing = 8;  // closes a coalesced block
  static constexpr std::uint8_t kFinished =
      16;  // done by the rules of its backend (set by join/, see join/progress.h)

  static constexpr float kNoDuration = -1.0F;

  // Nanoseconds since the epoch on the clock of the rank's host; 0: not recorded. `created` is when the host
  // called; `started` and `completed` are when the watchdog noticed, which may be late by its polling period.
  std::int64_t created_ns = 0;
  std::int64_t started_ns = 0;
  std::int64_t completed_ns = 0;
  std::int64_t collective_sequence = -1;
  std::int64_t p2p_sequence = -1;
  std::int64_t op_id = -1;
  std::int64_t record_id = -1;  // of this process, over all its groups
  float duration_ms = kNoDuration;
  std::uint32_t timeout_ms = 0;
  SignatureId signature = 0;
  StackId stack = 0;
  std::uint32_t group = 0;  // in a dump: index into Dump::groups; in a Case: index into Case::groups
  OpState state = OpState::kUnknown;
  std::uint8_t flags = 0;

  bool has(std::uint8_t flag) const { return (flags & flag) != 0; }
};
static_assert(sizeof(Operation) <= 80);

}  // namespace unhang::model
