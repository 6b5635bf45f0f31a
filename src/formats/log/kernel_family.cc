// SPDX-License-Identifier: Apache-2.0
//
// The kernel's log: what NVIDIA's driver, PCIe, the IOMMU, the memory and the network adapters say.
#include "formats/log/families.h"
#include "formats/log/kernel_messages.h"

namespace unhang::formats::log {
namespace {

constexpr std::string_view kTriggers[] = {
    // the driver of the GPUs
    "Xid (", "XidCriticalError", "allen off the bus", "GPU is lost", "the device handle for",
    "The NVIDIA GPU ", "NVRM: GPU at ", "NVRM: API mismatch", "RmInitAdapter failed",
    "rm_init_adapter failed", "nvidia: probe of ", "nvidia_peermem", "nv_peer_mem", "ncorrectable ECC",
    "double bit error", "NV_ERR_RESET_REQUIRED", "GSP RPC timeout",
    // PCIe and hardware
    "PCIe Bus Error", "AER: ", "pciehp", "DPC: containment", "[Hardware Error]", "EDAC ",
    // IOMMU
    "DMAR", "AMD-Vi: ", "arm-smmu-v3", "iommu: Default", "intel_iommu=", "amd_iommu=", "iommu=pt",
    "iommu=off", "iommu=force", "iommu.passthrough=",
    // memory and tasks
    "oom-killer", "mem_cgroup_out_of_memory+", "killed as a result of limit", "oom-kill:constraint",
    "ut of memory: Kill", "Killed process ", "oom_reaper: ", "no killable processes",
    " blocked for more than ", "soft lockup - CPU#", "hard LOCKUP on cpu", "self-detected stall",
    "detected stalls on CPUs",
    // network
    "Link DOWN", "Link ACTIVE", "Link INIT", "Link is ", "Link down", "Link Down", "Link up", "Link Up",
    "link becomes ready", "link status definitely", "now running without any", "NETDEV WATCHDOG",
    "Port module event", "Health issue observed", "High temperature on sensors", "health compromised",
    "Fatal error ", "firmware internal error", "unrecoverable hardware", "health recovery failed",
    "leak of a command resource", "TX timeout detected", "irmware fatal error", "Failed to process command"};

class KernelFamily : public Family {
 public:
  std::span<const std::string_view> triggers() const override { return kTriggers; }

  bool take(const Line& line, Facts& facts) override {
    // An NCCL line can quote the driver ("GPU is lost" of NVML); its own family has it.
    if (line.nccl != NcclLevel::kNone) return false;
    return x_gpu.take(line, facts) || x_pcie.take(line, facts) || x_iommu.take(line, facts) ||
           x_tasks.take(line, facts) || take_network_message(line, facts);
  }

  bool open() const override { return x_gpu.open(); }

  void finish(Facts& facts) override {
    x_gpu.finish(facts);
    x_iommu.finish(facts);
    x_tasks.finish(facts);
  }

 private:
  GpuDriverMessages x_gpu;
  PcieMessages x_pcie;
  IommuMessages x_iommu;
  MemoryAndTaskMessages x_tasks;
};

}  // namespace

std::unique_ptr<Family> kernel_family() {
  return std::make_unique<KernelFamily>();
}

}  // namespace unhang::formats::log
