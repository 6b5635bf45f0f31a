// SPDX-License-Identifier: Apache-2.0
//
// Which environment started the job, as far as the evidence tells: who will build the group again, and by
// which names it knows the job. Where several stand inside each other (torchrun inside Slurm, Ray inside
// LeaderWorkerSet) the outermost is named, because it is the one that brings all ranks back together.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "model/case.h"

namespace unhang::detect {

enum class EnvironmentKind : std::uint8_t {  // from the outermost inward
  kLeaderWorkerSet,
  kJobSet,
  kSlurm,
  kRay,
  kTorchrun,
  kKubernetes,  // pods whose controller is not known
  kSystemd,
  kDocker,
  kUnknown,
};
std::string_view name_of(EnvironmentKind value);  // "lws"; kUnknown: ""

// Empty: not known.
struct RecoveryEnvironment {
  EnvironmentKind kind = EnvironmentKind::kUnknown;
  std::string basis;       // "LWS_GROUP_SIZE of process 412 on gpu-b07"
  std::string job;         // Slurm's job id, the JobSet's name, torchrun's run id
  std::string name_space;  // of Kubernetes
  std::string group;       // LeaderWorkerSet: the group, which has the name of its leader pod
  std::string pod;         // one of the job's
  std::string unit;        // of systemd
  std::string container;
};

// Deterministic: the first in the order of the Case's bundles, hosts and log events counts.
RecoveryEnvironment find_environment(const model::Case& joined);

}  // namespace unhang::detect
