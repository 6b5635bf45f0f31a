// SPDX-License-Identifier: Apache-2.0
#include "model/log.h"

namespace unhang::model {

std::string_view name_of(CommunicatorPhase value) {
  switch (value) {
    case CommunicatorPhase::kStarted:
      return "started";
    case CommunicatorPhase::kBootstrap:
      return "bootstrap";
    case CommunicatorPhase::kTopology:
      return "topology";
    case CommunicatorPhase::kConnecting:
      return "connecting";
    case CommunicatorPhase::kConnected:
      return "connected";
    case CommunicatorPhase::kComplete:
      return "complete";
    case CommunicatorPhase::kInUse:
      return "in use";
    case CommunicatorPhase::kAborted:
      return "aborted";
    case CommunicatorPhase::kDestroyed:
      return "destroyed";
  }
  return "unknown";
}

}  // namespace unhang::model
