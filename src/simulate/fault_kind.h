// SPDX-License-Identifier: Apache-2.0
//
// The kinds of faults that can be simulated, with their names for the command line. How each is injected:
// fault.h.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace unhang::simulate {

enum class FaultKind : std::uint8_t {
  kNone,
  kRankNotEntered,
  kRank0NotEntered,
  kSeveralNotEntered,
  kSubgroupNotEntered,
  kNeverJoined,
  kSkippedCollective,
  kExtraCollective,
  kOpMismatch,
  kSizeMismatch,
  kDtypeMismatch,
  kOrderInversion,
  kOrderInversionAsync,
  kP2pUnmatched,
  kP2pDeadlock,
  kSplitMismatch,
  kRankSilent,
  kTransportStall,
  kGpuNotProgressing,
  kStraggler,
  kStaleWatchdog,
  kTruncatedDump,
  kGpuXid,
  kOomKilled,
  kProcessExited,
  kLinkDown,
  kIbRetry,
  kBadHost,
  kHostFrozen,
  kDataloaderBlocked,
  kInitHang,
};

struct FaultInfo {
  FaultKind kind;
  std::string_view name;         // "rank_not_entered"
  std::string_view description;  // one line for people
};

// All of them, in the order of FaultKind.
std::span<const FaultInfo> fault_catalogue();

const FaultInfo& info_of(FaultKind kind);
std::optional<FaultKind> parse_fault(std::string_view name);

}  // namespace unhang::simulate
