// SPDX-License-Identifier: Apache-2.0
#include "detect/next_checks.h"

namespace unhang::detect {
namespace {

constexpr NextCheck kChecks[] = {
    {"shm_exhausted", "how large is shared memory where the ranks run", "df -h /dev/shm"},
    {"duplicate_gpu", "which GPUs does each rank see", "echo $CUDA_VISIBLE_DEVICES; nvidia-smi -L"},
    {"driver_library_mismatch", "do module and library have one version",
     "cat /proc/driver/nvidia/version; nvidia-smi"},
    {"version_mismatch", "which NCCL does each rank load",
     "python3 -c 'import torch; print(torch.cuda.nccl.version())'"},
    {"env_mismatch", "compare the settings of all ranks", "env | grep -E '^(NCCL|GLOO|TORCH)_' | sort"},
    {"plugin_mismatch", "which network plugin does each host load",
     "env | grep NCCL_NET; ldconfig -p | grep nccl-net"},
    {"interface_mismatch", "which interfaces are there, and which was asked for",
     "ip -br addr; env | grep -E 'NCCL_SOCKET_IFNAME|GLOO_SOCKET_IFNAME|NCCL_IB_HCA'"},
    {"bootstrap_unreachable", "is there a way between the two hosts", "ip route get PEER; nc -vz PEER PORT"},
    {"peer_unreachable", "is there a way between the two hosts", "ip route get PEER; nc -vz PEER PORT"},
    {"store_unreachable", "does the rank that holds the store listen", "nc -vz $MASTER_ADDR $MASTER_PORT"},
    {"gid_or_route", "which GID is used, and is it routed",
     "show_gids; ip route; env | grep NCCL_IB_GID_INDEX"},
    {"device_not_accessible", "may the process use the devices",
     "ls -l /dev/nvidia* /dev/infiniband; ulimit -l"},
    {"group_mismatch", "does another job use the same rendezvous", "ss -ltnp | grep ${MASTER_PORT:-29500}"},
    {"fabric_manager", "is the fabric set up",
     "systemctl status nvidia-fabricmanager nvidia-imex; nvidia-smi -q | grep -A6 Fabric"},
    {"nvls_failure", "is the fabric set up",
     "systemctl status nvidia-fabricmanager nvidia-imex; nvidia-smi -q | grep -A6 Fabric"},
    {"nvlink_fault", "which links are down or count errors", "nvidia-smi nvlink -s; nvidia-smi nvlink -e"},
    {"ib_retry_exceeded", "does the link flap; on both ends",
     "ibstat; grep . /sys/class/infiniband/*/ports/*/counters/link_downed"},
    {"rnr", "what does the receiving process do", "py-spy dump --native --pid PID"},
    {"link_down", "is the link up again, and how often was it down",
     "ibstat; grep . /sys/class/infiniband/*/ports/*/counters/link_downed"},
    {"hca_fault", "what does the adapter's driver say", "dmesg -T | grep -iE 'mlx5|infiniband|health'"},
    {"gdr_broken", "what stands between GPU and adapter",
     "lspci -vvv | grep -i acsctl; cat /proc/cmdline; ls /sys/kernel/mm/memory_peers"},
    {"gdr_disabled", "is a module for peer memory loaded", "lsmod | grep -E 'nvidia_peermem|nv_peer_mem'"},
    {"p2p_blocked_by_iommu_or_acs", "does an IOMMU or ACS redirect transfers",
     "lspci -vvv | grep -i acsctl; cat /proc/cmdline; nvidia-smi topo -m"},
    {"fell_back_to_socket", "are there RDMA adapters where the ranks run", "ibv_devinfo; ls /dev/infiniband"},
    {"topology_drift", "is /sys visible to the process", "ls /sys/bus/pci/devices | head -3"},
    {"slow_link", "do the links run at their full rate and width, on the hosts of all that are named",
     "ibstat | grep -E 'CA |Rate'; nvidia-smi nvlink -s; nvidia-smi "
     "--query-gpu=index,pcie.link.gen.current,pcie.link.width.current --format=csv"},
    {"below_baseline", "is it slow alone on the node, too",
     "all_reduce_perf -b 8K -e 1G -f 2 -g 8 -n 100 -w 20"},
    {"gpu_throttled", "why are the clocks held back", "nvidia-smi -q -d PERFORMANCE,CLOCK,POWER"},
    {"gpu_xid", "what the device says of itself",
     "dmesg -T | grep -iE 'xid|nvrm'; nvidia-smi -q -d ECC,PAGE_RETIREMENT,ROW_REMAPPER"},
    {"gpu_fallen_off_bus", "is the device still there",
     "nvidia-smi -L; lspci -d 10de:; dmesg -T | grep -iE 'xid|pcie|aer'"},
    {"gpu_not_progressing", "what the device says of itself", "dmesg -T | grep -iE 'xid|nvrm'; nvidia-smi"},
    {"oom_killed", "who was killed, and for which limit",
     "dmesg -T | grep -i 'killed process'; kubectl describe pod POD | grep -A3 'Last State'"},
    {"process_exited", "how the process ended: the kernel's word, then the end of its own log",
     "dmesg -T | grep -iE 'killed process|segfault|xid'"},
    {"process_stopped", "who stopped it: a signal (T), or a debugger (t, TracerPid)",
     "grep -E 'State|TracerPid' /proc/PID/status"},
    {"killed_by_orchestrator", "who ended it and why",
     "kubectl get events --sort-by=.lastTimestamp | tail -20"},
    {"node_unreachable", "does the host answer", "ping -c 3 HOST; ssh HOST uptime"},
    {"cuda_oom", "who holds the memory", "nvidia-smi --query-compute-apps=pid,used_memory --format=csv"},
};

}  // namespace

const NextCheck* find_next_check(std::string_view cause) {
  for (const NextCheck& check : kChecks) {
    if (check.cause == cause) return &check;
  }
  return nullptr;
}

}  // namespace unhang::detect
