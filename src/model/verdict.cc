// SPDX-License-Identifier: Apache-2.0
#include "model/verdict.h"

namespace unhang::model {

std::string_view name_of(Category value) {
  switch (value) {
    case Category::kHealthy:
      return "healthy";
    case Category::kPerformanceDegradation:
      return "performance_degradation";
    case Category::kProcessOrDeviceUnavailable:
      return "process_or_device_unavailable";
    case Category::kInitializationHang:
      return "initialization_hang";
    case Category::kCollectiveDesync:
      return "collective_desync";
    case Category::kTransportStall:
      return "transport_stall";
    case Category::kNotCommunication:
      return "not_communication";
    case Category::kInconclusive:
      return "inconclusive";
  }
  return "inconclusive";
}

std::string_view name_of(State value) {
  switch (value) {
    case State::kAdvancing:
      return "advancing";
    case State::kSlow:
      return "slow";
    case State::kStopped:
      return "stopped";
    case State::kDead:
      return "dead";
    case State::kIdle:
      return "idle";
    case State::kStarting:
      return "starting";
    case State::kUnknown:
      return "unknown";
  }
  return "unknown";
}

std::string_view name_of(Confidence value) {
  switch (value) {
    case Confidence::kHigh:
      return "high";
    case Confidence::kMedium:
      return "medium";
    case Confidence::kLow:
      return "low";
  }
  return "low";
}

std::string_view name_of(Phase value) {
  switch (value) {
    case Phase::kLaunch:
      return "launch";
    case Phase::kInit:
      return "init";
    case Phase::kConnect:
      return "connect";
    case Phase::kFirstCollective:
      return "first_collective";
    case Phase::kSteady:
      return "steady";
    case Phase::kShutdown:
      return "shutdown";
    case Phase::kUnknown:
      return "unknown";
  }
  return "unknown";
}

std::string_view name_of(FaultDomain value) {
  switch (value) {
    case FaultDomain::kApplication:
      return "application";
    case FaultDomain::kProcess:
      return "process";
    case FaultDomain::kGpu:
      return "gpu";
    case FaultDomain::kHost:
      return "host";
    case FaultDomain::kLink:
      return "link";
    case FaultDomain::kFabric:
      return "fabric";
    case FaultDomain::kEnvironment:
      return "environment";
    case FaultDomain::kUnknown:
      return "unknown";
  }
  return "unknown";
}

std::string_view name_of(RecoveryLevel value) {
  switch (value) {
    case RecoveryLevel::kNone:
      return "none";
    case RecoveryLevel::kRequest:
      return "request";
    case RecoveryLevel::kInstance:
      return "instance";
    case RecoveryLevel::kProcessGroup:
      return "process_group";
    case RecoveryLevel::kNode:
      return "node";
    case RecoveryLevel::kCluster:
      return "cluster";
  }
  return "none";
}

std::string_view name_of(SubjectKind value) {
  switch (value) {
    case SubjectKind::kRank:
      return "rank";
    case SubjectKind::kProcess:
      return "process";
    case SubjectKind::kGpu:
      return "gpu";
    case SubjectKind::kNic:
      return "nic";
    case SubjectKind::kLink:
      return "link";
    case SubjectKind::kPort:
      return "port";
    case SubjectKind::kHost:
      return "host";
    case SubjectKind::kPair:
      return "pair";
    case SubjectKind::kGroup:
      return "group";
  }
  return "rank";
}

int exit_code(const Verdict& verdict) {
  if (verdict.category == Category::kHealthy) return 0;
  switch (verdict.state) {
    case State::kAdvancing:
    case State::kIdle:
    case State::kStarting:
      return 0;
    case State::kSlow:
      return 1;
    case State::kStopped:
    case State::kDead:
      return 2;
    case State::kUnknown:
      break;
  }
  if (verdict.category == Category::kPerformanceDegradation) return 1;
  if (verdict.confidence == Confidence::kLow) return 3;  // a lead: nothing is proven to stand
  return verdict.category == Category::kNotCommunication || verdict.category == Category::kInconclusive ? 3
                                                                                                        : 2;
}

}  // namespace unhang::model
