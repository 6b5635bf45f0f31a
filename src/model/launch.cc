// SPDX-License-Identifier: Apache-2.0
#include "model/launch.h"

namespace unhang::model {

std::string_view name_of(LaunchPlace value) {
  switch (value) {
    case LaunchPlace::kBeforeNccl:
      return "before_nccl";
    case LaunchPlace::kNcclInit:
      return "nccl_init";
    case LaunchPlace::kAfterInit:
      return "after_init";
    case LaunchPlace::kFirstCollective:
      return "first_collective";
    case LaunchPlace::kRunning:
      return "running";
    case LaunchPlace::kUnknown:
      break;
  }
  return "unknown";
}

std::string_view name_of(LaunchMovement value) {
  switch (value) {
    case LaunchMovement::kEnded:
      return "ended";
    case LaunchMovement::kAdvancing:
      return "advancing";
    case LaunchMovement::kPrinting:
      return "printing";
    case LaunchMovement::kStanding:
      return "standing";
    case LaunchMovement::kSilent:
      return "silent";
    case LaunchMovement::kUnknown:
      break;
  }
  return "unknown";
}

int exit_code(const LaunchReport& report) {
  constexpr int kOk = 0, kStopped = 2, kUnknown = 3;
  const LaunchMovement movement = report.base.stage.movement;
  const bool proven = report.verdict && report.verdict->confidence != Confidence::kLow &&
                      exit_code(*report.verdict) == kStopped;
  if (movement == LaunchMovement::kStanding || proven) return kStopped;
  return movement == LaunchMovement::kAdvancing || movement == LaunchMovement::kPrinting ? kOk : kUnknown;
}

}  // namespace unhang::model
