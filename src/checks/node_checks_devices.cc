// SPDX-License-Identifier: Apache-2.0
//
// Whether what is on the PCI bus can be used from here, and whether NVIDIA's library fits the kernel's
// module.
#include "base/printable.h"
#include "checks/node_checks.h"

namespace unhang::checks {
namespace {

using Status = model::CheckStatus;

// In a container without workers, such as a sidecar, it is normal to see no devices.
Status severity(const NodeSubject& subject) {
  return subject.facts.in_container && subject.facts.workers.empty() ? Status::kWarn : Status::kFail;
}

Outcomes rdma_usable(const NodeSubject& subject) {
  const model::NodeDevices& devices = subject.facts.devices;
  if (devices.rdma.empty() && devices.rdma_capable.empty()) return not_applicable();
  if (devices.rdma.empty()) {
    return {{severity(subject),
             std::to_string(devices.rdma_capable.size()) +
                 " adapters that can do RDMA are on the bus, and /sys/class/infiniband is empty",
             "sudo modprobe mlx5_ib   # on the host\n# in a pod: hostNetwork, or the RDMA device plugin",
             devices.rdma_capable}};
  }
  if (!devices.rdma_nodes) {
    return {{severity(subject), "/dev/infiniband has no uverbs device: NCCL falls back to TCP",
             "docker run --device /dev/infiniband …\n"
             "# in a pod: resources: {limits: {rdma/hca: 1}}, or a hostPath"
             "hostPath",
             devices.rdma}};
  }
  return passed(std::to_string(devices.rdma.size()) + " adapters");
}

Outcomes gpus_usable(const NodeSubject& subject) {
  const model::NodeDevices& devices = subject.facts.devices;
  if (devices.gpus.empty() && devices.gpu_nodes.empty()) return not_applicable();
  if (devices.gpu_nodes.empty()) {
    return {{severity(subject),
             std::to_string(devices.gpus.size()) + " GPUs are on the bus, and /dev has none of them",
             devices.kernel_driver.empty() ? "sudo modprobe nvidia nvidia-uvm   # on the host: nvidia-smi"
                                           : "docker run --gpus all …\n"
                                             "# in a pod: resources: {limits: {nvidia.com/gpu: 8}}",
             devices.gpus}};
  }
  if (!devices.gpu_control) {
    return {{severity(subject), "/dev/nvidiactl or /dev/nvidia-uvm is not there: CUDA does not start",
             "sudo nvidia-modprobe -u -c=0", devices.gpu_nodes}};
  }
  return passed(std::to_string(devices.gpu_nodes.size()) + " GPUs");
}

Outcomes driver_matches(const NodeSubject& subject) {
  const model::NodeDevices& devices = subject.facts.devices;
  if (devices.gpu_nodes.empty() && devices.kernel_driver.empty()) return not_applicable();
  const std::string fix =
      "sudo rmmod nvidia_uvm nvidia && sudo modprobe nvidia   # or boot again\n"
      "# in a container: the toolkit mounts the library of the host; take\n"
      "# the one of the image away";
  if (devices.kernel_driver.empty())
    return {{Status::kUnknown,
             "the release of the kernel's NVIDIA module cannot be read",
             "cat /proc/driver/nvidia/version",
             {}}};
  if (devices.driver_library.empty()) {
    return {{Status::kUnknown,
             "libnvidia-ml was not found where it usually is",
             "ldconfig -p | grep libnvidia-ml",
             {}}};
  }
  if (devices.driver_library == devices.kernel_driver) return passed(devices.kernel_driver);
  return {{Status::kFail,
           "libnvidia-ml is of release " + base::printable(devices.driver_library) +
               ", the kernel's module of " + base::printable(devices.kernel_driver),
           fix,
           {base::printable(devices.driver_library_path)}}};
}

constexpr Check<NodeSubject> kChecks[] = {
    {"rdma-usable", "RDMA adapters can be used from here",
     "Without them NCCL takes TCP, ten times slower, or finds no way at all.", &rdma_usable},
    {"gpus-usable", "GPUs can be used from here", "CUDA fails when the job starts.", &gpus_usable},
    {"driver-matches", "NVIDIA's library fits the kernel's module",
     "NVML and nvidia-smi fail with 'Driver/library version mismatch': no GPU can be looked at, and new "
     "processes do not start.",
     &driver_matches},
};

}  // namespace

std::span<const Check<NodeSubject>> node_checks_of_devices() {
  return kChecks;
}

}  // namespace unhang::checks
