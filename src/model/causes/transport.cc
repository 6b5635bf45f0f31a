// SPDX-License-Identifier: Apache-2.0
#include "model/causes/causes.h"

namespace unhang::model::causes {
namespace {

constexpr Category kTransport[] = {Category::kTransportStall};
constexpr Category kTransportOrInit[] = {Category::kTransportStall, Category::kInitializationHang};

constexpr CauseInfo kCauses[] = {
    {.code = "ib_retry_exceeded",
     .title = "a network adapter got no acknowledgement from its peer",
     .categories = kTransport,
     .means =
         "RDMA sent, repeated for about half a minute, and gave up. The peer's process or node is gone, its "
         "link is down, or the fabric loses packets. The rank that reports it is often the victim.",
     .shows =
         "NCCL WARN with status 12 (IBV_WC_RETRY_EXC_ERR), vendor error 129. Status 5 (flush) after it is "
         "only a consequence; 'opcode' and 'len' of such lines mean nothing.",
     .confirm =
         "First the peer that the line names: is its process alive? Then on both hosts `ibstat`, `dmesg -T "
         "| grep -i mlx5`, and `cat /sys/class/infiniband/DEV/ports/1/counters/link_downed` twice. "
         "`ib_write_bw` between the two.",
     .fix =
         "Repair the dead peer, link or switch port (RoCE: check PFC and ECN). Rebuild the whole group. "
         "Workaround for short flaps only: a larger NCCL_IB_TIMEOUT on all ranks; it delays every real error "
         "as well.",
     .recovery = RecoveryLevel::kProcessGroup,
     .fault_domain = FaultDomain::kLink},

    {.code = "rnr",
     .title = "the receiver did not post buffers (receiver not ready)",
     .categories = kTransport,
     .means =
         "The peer's adapter answers, but its program posts no receive buffers: its NCCL proxy thread or "
         "its whole process is stuck or starved of CPU. The network is fine.",
     .shows = "NCCL WARN with status 13 (RNR_RETRY_EXC_ERR); rnr_nak_retry_err grows.",
     .confirm = "On the peer: `py-spy dump --native --pid PID`, `top -H -p PID`, `grep -E 'State|ctxt' "
                "/proc/PID/status`; is it stopped, swapping, or limited by its CPU quota?",
     .fix =
         "Free the peer's process (CPU limits, pinning, what its stack shows) and rebuild the whole group.",
     .recovery = RecoveryLevel::kProcessGroup,
     .fault_domain = FaultDomain::kProcess},

    {.code = "link_down",
     .title = "a network link went down",
     .categories = kTransport,
     .means =
         "A port lost its link, for a moment or for good: cable, transceiver, switch port or adapter. RDMA "
         "connections over it break, and NCCL does not bring them back.",
     .shows =
         "Kernel 'mlx5_core ...: Link down' or 'Port: 1 Link DOWN'; NCCL 'async fatal event: port error' or "
         "'Got async event : port error'; link_downed has grown.",
     .confirm =
         "`ibstat` (State Active, Physical state LinkUp, the full rate), `ip -br link`, `dmesg -T | grep "
         "-iE 'link (up|down)'`; error counters and optics with `mlxlink -d DEV -m`.",
     .fix = "Reseat or replace cable or transceiver, check the switch port. Rebuild the whole group when the "
            "link "
            "is up. When it flaps again or a re-test fails, take the node out of service.",
     .recovery = RecoveryLevel::kProcessGroup,
     .fault_domain = FaultDomain::kLink},

    {.code = "gid_or_route",
     .title = "RDMA uses a wrong GID, or has no route to the peer's address",
     .categories = kTransportOrInit,
     .means =
         "On RoCE each address of an adapter is a GID with an index. The wrong index, a missing address, or "
         "no route (also between rails) means that connections do not come up or carry nothing.",
     .shows = "'ibv_modify_qp failed' with 22 (wrong GID index), 110 (no ARP or route, cross-rail) or 101 "
              "(unreachable); status 12 right at the start; 'GID table changed'.",
     .confirm =
         "`show_gids` (or `cat /sys/class/infiniband/DEV/ports/1/gid_attrs/types/*`), `ip -br addr`, `ip "
         "route get PEER_ADDR`; compare NCCL_IB_GID_INDEX with the index of the RoCE v2 address.",
     .fix =
         "Unset NCCL_IB_GID_INDEX (NCCL 2.21 and later finds it) or set the right one on all ranks. Repair "
         "addresses and routes; where rails are separate networks, set NCCL_CROSS_NIC=0.",
     .recovery = RecoveryLevel::kProcessGroup,
     .fault_domain = FaultDomain::kEnvironment},

    {.code = "p2p_blocked_by_iommu_or_acs",
     .title = "IOMMU or PCIe ACS blocks direct transfers between GPUs",
     .categories = kTransportOrInit,
     .means =
         "GPUs without NVLink write to each other over PCIe. ACS on the bridges above them, or the IOMMU, "
         "redirects or drops these writes: the kernels wait for flags that never arrive. There is no error "
         "line.",
     .shows = "All ranks say 'Init COMPLETE', then silence; GPUs at 100 % with little power; perhaps DMAR or "
              "'AMD-Vi ... IO_PAGE_FAULT' in the kernel log. `topo -p2p` may still say OK.",
     .confirm =
         "One test run with `NCCL_P2P_DISABLE=1`: when it works, this is it. `sudo lspci -vvv | grep -i "
         "acsctl` (ReqRedir+ above a GPU), `cat /proc/cmdline`, `dmesg -T | grep -iE 'DMAR|AMD-Vi'`.",
     .fix = "Switch ACS off on the bridges above the GPUs (firmware setting, or setpci at each boot) and the "
            "IOMMU "
            "off or to passthrough (`iommu=pt`). Workaround, much slower: NCCL_P2P_DISABLE=1 on all ranks.",
     .recovery = RecoveryLevel::kNode,
     .fault_domain = FaultDomain::kHost,
     .isolates_node = true},

    {.code = "p2p_corruption",
     .title = "direct transfers between GPUs deliver wrong data",
     .categories = kTransport,
     .means = "Transfers complete, but bytes are wrong or missing: IOMMU translation, virtual machines with "
              "memory encryption, or a defect. Flags can be corrupted too, which then looks like a hang. "
              "Results of this node are not to be trusted.",
     .shows = "Wrong values in nccl-tests (#wrong above 0), NaN or nonsense output on this node only, "
              "IO_PAGE_FAULT "
              "in the kernel log.",
     .confirm =
         "`all_reduce_perf -b 8 -e 1G -f 2 -g 8 -c 1` on that node: every #wrong must be 0. Again with "
         "`NCCL_P2P_DISABLE=1`: when that is clean, direct transfers are at fault.",
     .fix =
         "Take the node out of service. Correct IOMMU and ACS as for p2p_blocked_by_iommu_or_acs, test again "
         "with the data check, replace hardware when it stays. Workaround: NCCL_P2P_DISABLE=1.",
     .recovery = RecoveryLevel::kNode,
     .fault_domain = FaultDomain::kHost,
     .isolates_node = true},

    {.code = "gdr_broken",
     .title = "GPUDirect RDMA fails: the adapter may not access GPU memory",
     .categories = kTransportOrInit,
     .means = "The network adapter reads and writes GPU memory directly. Peer memory support is missing or "
              "broken, "
              "ACS or IOMMU forbids the access, or the buffer was freed under it.",
     .shows = "NCCL WARN with status 4 (LOC_PROT_ERR, vendor error 81), 10 (REM_ACCESS) or 11; failures of "
              "ibv_reg_mr for GPU memory.",
     .confirm =
         "One test run with `NCCL_NET_GDR_LEVEL=LOC` (never direct): when it works, this is it. `lsmod | "
         "grep nvidia_peermem`, `sudo lspci -vvv | grep -i acsctl`.",
     .fix = "Load nvidia-peermem (or use DMA-BUF with the open kernel modules), switch ACS off above GPU and "
            "adapter. Workaround, slower: NCCL_NET_GDR_LEVEL=LOC on all ranks.",
     .recovery = RecoveryLevel::kProcessGroup,
     .fault_domain = FaultDomain::kHost},

    {.code = "nvlink_fault",
     .title = "an NVLink or NVSwitch error",
     .categories = kTransport,
     .means =
         "A link between GPUs, or a switch, reported a fatal error. Kernels that use it stop, on every GPU "
         "that shares the fabric. A neighbour can be the one that reports it.",
     .shows =
         "Xid 74; on Blackwell Xid 144 to 150 with 'Fatal' (149: look at the peer device too); a fatal SXid; "
         "CUDA 'uncorrectable NVLink error detected during the execution'. Nonfatal ones are notes; Xid 137 "
         "alone is usually a peer process that died.",
     .confirm =
         "`dmesg -T | grep -E 'Xid|SXid'`, `nvidia-smi nvlink -s` (no inactive link), `nvidia-smi nvlink "
         "-e` twice, `nvidia-smi -q | grep -i 'recovery action'`.",
     .fix = "Take the node out of service. With no process on any GPU of the fabric, do what the recovery "
            "action "
            "says (`nvidia-smi -r` for all GPUs, or reboot), then re-test. Repeated: replace the GPU or "
            "baseboard.",
     .recovery = RecoveryLevel::kNode,
     .fault_domain = FaultDomain::kFabric,
     .isolates_node = true},

    {.code = "nvls_failure",
     .title = "NVLink SHARP (NVLS) multicast could not be set up or failed",
     .categories = kTransportOrInit,
     .means = "NCCL reduces inside the NVSwitch by multicast memory. Setting it up needs a healthy fabric "
              "manager (across nodes IMEX) and free multicast resources.",
     .shows = "'Failed to bind NVLink SHARP (NVLS) Multicast memory of size S : CUDA error N'; 'invalid "
              "argument' in transport/nvls.cc.",
     .confirm = "One test run with `NCCL_NVLS_ENABLE=0`: when it works, this is it. `systemctl status "
                "nvidia-fabricmanager; nvidia-smi -q | grep -A 4 -w Fabric`.",
     .fix = "Drain the node, restart the fabric manager (IMEX) while no process uses a GPU, and rebuild the "
            "group. Workaround, slower: NCCL_NVLS_ENABLE=0 on all ranks.",
     .recovery = RecoveryLevel::kProcessGroup,
     .fault_domain = FaultDomain::kFabric},

    {.code = "hca_fault",
     .title = "a network adapter failed",
     .categories = kTransport,
     .means =
         "The adapter itself reported a fatal error or stopped answering its driver. Every connection over "
         "it is lost, and it does not come back without a reset.",
     .shows = "Kernel 'mlx5_core ...: Fatal error detected', 'health compromised - reached miss count'; NCCL "
              "'async event : local catastrophic error'; the device vanishes from ibv_devinfo.",
     .confirm = "`dmesg -T | grep -i mlx5_core`, `ibv_devinfo -d DEV`, `lspci | grep -i mellanox`.",
     .fix = "Take the node out of service; reset the adapter (`mlxfwreset -d DEV reset`) or power-cycle, "
            "compare "
            "the firmware with healthy nodes, re-test. Repeated: replace it.",
     .recovery = RecoveryLevel::kNode,
     .fault_domain = FaultDomain::kHost,
     .isolates_node = true},
};

}  // namespace

std::span<const CauseInfo> transport() {
  return kCauses;
}

}  // namespace unhang::model::causes
