// SPDX-License-Identifier: Apache-2.0
//
// What to simulate. The same plan gives the same bytes on every machine.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "simulate/fault_kind.h"

namespace unhang::simulate {

enum class DumpFormat : std::uint8_t { kPickle, kJson };

// Kinds of evidence, as bits of Plan::sources.
constexpr std::uint8_t kFlightRecorder = 1;
constexpr std::uint8_t kRas = 2;
constexpr std::uint8_t kLogs = 4;
constexpr std::uint8_t kKernel = 8;
constexpr std::uint8_t kAllSources = kFlightRecorder | kRas | kLogs | kKernel;

struct Plan {
  std::int32_t ranks = 8;
  std::int32_t entries = 2000;  // size of each rank's ring
  std::int32_t tp = 1;
  std::int32_t pp = 1;      // the data-parallel size is what remains
  std::int32_t steps = 0;   // training steps; 0: as many as fill every ring and make it wrap
  std::int32_t frames = 4;  // per stack; 0: no stacks
  FaultKind fault = FaultKind::kNone;
  std::optional<std::int32_t> culprit;  // the rank at fault; without it the seed decides
  std::uint64_t seed = 1;
  bool only_active = false;  // finished operations are left out, as with TORCH_INCLUDE_ONLY_ACTIVE
  bool timing = false;       // durations and start events, as with TORCH_NCCL_ENABLE_TIMING=1
  DumpFormat format = DumpFormat::kPickle;
  std::string backend = "nccl";  // or "gloo"
  std::string file_prefix = "nccl_trace_rank_";
  std::uint8_t sources = kFlightRecorder;  // which evidence is there
  std::int32_t hosts = 0;                  // machines that the ranks are on; 0: eight ranks on each
  std::int64_t skew_ns = 0;                // clocks of hosts are wrong by up to this, either way
  bool missing = false;                    // some pieces of the evidence are lost; the seed decides which

  bool has(std::uint8_t source) const { return (sources & source) != 0; }
};

}  // namespace unhang::simulate
