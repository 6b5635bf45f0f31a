// SPDX-License-Identifier: Apache-2.0
//
// What the ranks of a simulated job call: kind, shape, type. Each call has a number; ranks agree on an
// operation where they come with the same number. How a backend spells a call in its dumps is decided here
// too.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/operation.h"
#include "simulate/recorded_dump.h"

namespace unhang::simulate {

enum class Backend : std::uint8_t { kNccl, kGloo };

struct CallSpec {
  model::OpKind kind = model::OpKind::kAllReduce;
  std::vector<std::int64_t> shape =
      {};  // of the smaller side: what one rank gives to all_gather, gets from reduce_scatter
  std::string dtype = "Float";
  std::int32_t members = 1;  // of the group
  std::int32_t self = -1;    // point to point: rank in the group, and its peer
  std::int32_t peer = -1;
  std::string closes = {};     // closing entry of a coalesced block: "ALLGATHER"; empty: plain "coalesced"
  bool uneven = false;         // all_to_all with sizes that differ by rank and call; `shape` is the mean
  std::int64_t shortfall = 0;  // uneven only: rows that this rank fails to send

  bool operator==(const CallSpec&) const = default;
};

using CallId = std::uint16_t;

class CallTable {
 public:
  explicit CallTable(Backend backend) : x_backend(backend) {}

  Backend backend() const { return x_backend; }
  CallId add(const CallSpec& spec);  // the same number for the same call
  const CallSpec& spec(CallId id) const { return x_specs[id]; }

  // As the dump has it. `rows_in` and `rows_out` count for uneven calls only.
  RecordedCall recorded(CallId id, std::int64_t rows_in = 0, std::int64_t rows_out = 0) const;

 private:
  Backend x_backend;
  std::vector<CallSpec> x_specs;
};

}  // namespace unhang::simulate
