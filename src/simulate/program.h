// SPDX-License-Identifier: Apache-2.0
//
// What one rank calls, in order: a training job's setup and its steps. All ranks of a pipeline stage run the
// same program; a fault gives its rank a changed copy.
//
// A step: micro-batches through the pipeline (one forward, one backward in turn, after a warm-up), with
// tensor-parallel calls inside each stage; then the tail: tensor-parallel gradients, an uneven all_to_all,
// the data-parallel gradient buckets, four small calls of the world, the data-parallel parameters as a
// coalesced block, and a barrier.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "simulate/call_site.h"
#include "simulate/call_table.h"
#include "simulate/layout.h"

namespace unhang::simulate {

// What a piece of work is for. Faults look for the place where they strike by it.
enum class Role : std::uint8_t {
  kSetup,
  kPipeline,
  kLayer,
  kTensorTail,
  kDispatch,
  kBucket,
  kWorldTail,
  kGather,
  kBarrier,
  kInserted,
};

// One end of a transfer between neighbouring stages.
enum class End : std::uint8_t { kSendNext, kRecvNext, kSendPrevious, kRecvPrevious };
constexpr std::size_t kEndCount = 4;

// What the host launches and the device finishes as one: a collective, a coalesced block of them, a transfer,
// a batch of transfers.
struct Work {
  enum class Kind : std::uint8_t { kCollective, kCoalesced, kTransfer, kBatch };

  Kind kind = Kind::kCollective;
  Role role = Role::kSetup;
  Slot slot = Slot::kWorld;
  Site site = Site::kSetupBarrier;
  bool host_waits = false;     // the host calls nothing further until this is done
  bool after_compute = false;  // the first call after the step's computation
  std::uint8_t inner = 1;      // calls of a block, ends of a batch
  CallId call = 0;             // of a block: the first; the others follow by number
  CallId closing_call = 0;
  std::array<End, 2> ends = {};

  bool is_p2p() const { return kind == Kind::kTransfer || kind == Kind::kBatch; }
  bool has_closing() const { return kind == Kind::kCoalesced || kind == Kind::kBatch; }
  std::int64_t entries() const { return inner + (has_closing() ? 1 : 0); }
};

struct Program {
  std::vector<Work> works;
  std::array<CallId, kEndCount> end_calls = {};  // by End; filled where the stage has that neighbour
  std::size_t setup_size = 0;
  std::size_t step_size = 0;

  std::size_t step_begin(std::size_t step) const { return setup_size + step * step_size; }
  std::int64_t entries_per_step() const;

  // The nth work of a role at or after `from`.
  std::optional<std::size_t> find(Role role, std::size_t from, std::size_t nth = 0) const;
  std::size_t count(Role role, std::size_t from) const;
};

Program build_program(const Layout& layout, std::int32_t stage, std::size_t steps, CallTable& calls);

// A lone transfer, as a program of that stage writes it.
Work transfer(End end, Site site, Role role);

}  // namespace unhang::simulate
