// SPDX-License-Identifier: Apache-2.0
#include "model/slow_report.h"

namespace unhang::model {

std::string_view name_of(SlowOutcome value) {
  switch (value) {
    case SlowOutcome::kNothingSlow:
      return "nothing_slow";
    case SlowOutcome::kSlow:
      return "slow";
    case SlowOutcome::kStopped:
      return "stopped";
    case SlowOutcome::kUnknown:
      return "unknown";
  }
  return "unknown";
}

std::string_view name_of(SlowKind value) {
  switch (value) {
    case SlowKind::kStraggler:
      return "straggler";
    case SlowKind::kTransferDrift:
      return "transfer_drift";
    case SlowKind::kSlowPair:
      return "slow_pair";
    case SlowKind::kSlowSender:
      return "slow_sender";
    case SlowKind::kSlowReceiver:
      return "slow_receiver";
    case SlowKind::kStepDrift:
      return "step_drift";
    case SlowKind::kTail:
      return "tail";
    case SlowKind::kThroughputDrift:
      return "throughput_drift";
  }
  return "tail";
}

std::string_view name_of(SlowSide value) {
  switch (value) {
    case SlowSide::kCompute:
      return "compute";
    case SlowSide::kNetwork:
      return "network";
    case SlowSide::kUnknown:
      return "unknown";
  }
  return "unknown";
}

}  // namespace unhang::model
