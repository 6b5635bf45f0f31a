// SPDX-License-Identifier: Apache-2.0
#include "detect/recovery_level.h"

namespace unhang::detect {

model::RecoveryLevel recovery_level(const model::Verdict& verdict, const NodeIsolation& isolation) {
  using model::RecoveryLevel;
  using model::State;
  if (verdict.category == model::Category::kHealthy) return RecoveryLevel::kNone;
  switch (verdict.state) {
    case State::kAdvancing:
    case State::kSlow:
    case State::kIdle:
    case State::kStarting:
      return RecoveryLevel::kNone;
    case State::kUnknown:
      if (verdict.confidence == model::Confidence::kLow) return RecoveryLevel::kNone;
      break;
    case State::kStopped:
    case State::kDead:
      break;
  }
  if (isolation.on_many) return RecoveryLevel::kCluster;
  return isolation.asked_for ? RecoveryLevel::kNode : RecoveryLevel::kProcessGroup;
}

}  // namespace unhang::detect
