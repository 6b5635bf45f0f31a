// SPDX-License-Identifier: Apache-2.0
#include "model/identity.h"

namespace unhang::model {

std::string_view name_of(IdentityKey value) {
  switch (value) {
    case IdentityKey::kHost:
      return "host";
    case IdentityKey::kAddress:
      return "address";
    case IdentityKey::kNode:
      return "node";
    case IdentityKey::kPod:
      return "pod";
    case IdentityKey::kPid:
      return "pid";
    case IdentityKey::kContainerPid:
      return "container_pid";
    case IdentityKey::kGpuOrdinal:
      return "gpu_ordinal";
    case IdentityKey::kGpuBusId:
      return "gpu_bus_id";
    case IdentityKey::kGpuUuid:
      return "gpu_uuid";
    case IdentityKey::kCommunicator:
      return "communicator";
    case IdentityKey::kGroup:
      return "group";
    case IdentityKey::kRole:
      return "role";
    case IdentityKey::kInstance:
      return "instance";
    case IdentityKey::kDeployment:
      return "deployment";
  }
  return "unknown";
}

}  // namespace unhang::model
