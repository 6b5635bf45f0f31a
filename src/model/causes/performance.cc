// SPDX-License-Identifier: Apache-2.0
#include "model/causes/causes.h"

namespace unhang::model::causes {
namespace {

constexpr Category kSlow[] = {Category::kPerformanceDegradation};

constexpr CauseInfo kCauses[] = {
    {.code = "straggler_rank",
     .title = "one rank comes last again and again, and the others wait for it",
     .categories = kSlow,
     .means =
         "Everything advances, at the pace of the slowest rank. That rank's GPU, CPU or input is slower; the "
         "time that the others seem to spend in communication is waiting.",
     .shows =
         "The same rank arrives last at most operations, by more than the clocks' uncertainty; or its own "
         "time inside them is the shortest.",
     .confirm =
         "On its host: `nvidia-smi -q -d PERFORMANCE,CLOCK,POWER,TEMPERATURE`, `top`, `py-spy top --pid "
         "PID`. Move the rank to another GPU: does the lateness move with the GPU or with the data?",
     .fix = "By what that shows: cooling and power, CPU pinning and NUMA, a noisy neighbour, uneven input. "
            "If it "
            "goes with the GPU, re-test that GPU before it serves again.",
     .recovery = RecoveryLevel::kNone,
     .fault_domain = FaultDomain::kUnknown},

    {.code = "slow_link",
     .title = "a link carries less than it should",
     .categories = kSlow,
     .means =
         "A network, PCIe or NVLink connection runs at a lower rate or width, or repeats much because of "
         "errors. Every ring or tree over it takes its pace.",
     .shows =
         "Pairs over one adapter, cable or switch are slow and others are not; error or discard counters "
         "grow; the link trained below its maximum.",
     .confirm =
         "`ibstat | grep Rate`, `mlxlink -d DEV -c`, `nvidia-smi --query-gpu=index,pcie.link.gen.current,"
         "pcie.link.width.current --format=csv` under load, `nvidia-smi nvlink -s`; `ib_write_bw` with a "
         "good partner.",
     .fix = "Reseat or replace cable, transceiver or riser, check the switch port. Then measure again "
            "against the "
            "baseline.",
     .recovery = RecoveryLevel::kNone,
     .fault_domain = FaultDomain::kLink},

    {.code = "wrong_interface",
     .title = "data goes over a slower network interface than it should",
     .categories = kSlow,
     .means =
         "NCCL chose a management or otherwise slow interface, or only some of the adapters, for the data.",
     .shows = "'NET/IB : Using' lists fewer adapters than the node has, or 'NET/Socket : Using' names the "
              "management network; the fast ports' counters stand still.",
     .confirm =
         "`NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,NET,ENV`, compare with `ibstat` and `ip -br addr`; byte "
         "counters of the fast port twice during a run.",
     .fix =
         "Set NCCL_IB_HCA (for example `NCCL_IB_HCA==mlx5_0,mlx5_1`) and NCCL_SOCKET_IFNAME the same on all "
         "ranks, at the next start of the group.",
     .recovery = RecoveryLevel::kNone,
     .fault_domain = FaultDomain::kEnvironment},

    {.code = "fell_back_to_socket",
     .title = "NCCL uses TCP sockets where RDMA should be used",
     .categories = kSlow,
     .means =
         "NCCL found no usable RDMA device or plugin and fell back to sockets: right results at a fraction "
         "of the bandwidth.",
     .shows =
         "'Using network Socket', 'NET/IB : No device found.', channels 'via NET/Socket' between nodes that "
         "have adapters.",
     .confirm =
         "Inside the container: `ibv_devinfo | head`, `ls /dev/infiniband`, `ulimit -l`, and `tr '\\0' "
         "'\\n' < /proc/PID/environ | grep -E 'NCCL_(IB_DISABLE|NET)'`.",
     .fix =
         "Give the container its RDMA devices, libibverbs and unlimited memlock, or the missing network "
         "plugin; remove NCCL_IB_DISABLE=1. `NCCL_NET=IB` turns a silent fall-back into an error at start.",
     .recovery = RecoveryLevel::kNone,
     .fault_domain = FaultDomain::kEnvironment},

    {.code = "gdr_disabled",
     .title = "GPUDirect RDMA is not used, data takes a detour through host memory",
     .categories = kSlow,
     .means = "Without peer memory support, or with GPU and adapter too far apart, NCCL copies through the "
              "host: more latency, less bandwidth, more CPU.",
     .shows = "'GPU Direct RDMA Disabled for HCA'; channels say 'via NET/IB/N' without '/GDRDMA'.",
     .confirm =
         "`lsmod | grep nvidia_peermem`, `nvidia-smi topo -m` (GPU and adapter on PIX or PXB), and whether "
         "NCCL_NET_GDR_LEVEL is set.",
     .fix = "`modprobe nvidia-peermem` at boot (or DMA-BUF with the open kernel modules), pair GPUs with "
            "adapters "
            "on the same switch, remove a restrictive NCCL_NET_GDR_LEVEL.",
     .recovery = RecoveryLevel::kNone,
     .fault_domain = FaultDomain::kHost},

    {.code = "algorithm_drift",
     .title = "NCCL now picks another algorithm or protocol than in the baseline",
     .categories = kSlow,
     .means =
         "An upgrade, another topology or a variable changed the choice of ring, tree, NVLS, LL or Simple "
         "for some sizes, for the worse.",
     .shows =
         "NCCL's TUNING lines name another algorithm or protocol for the same size than the baseline does.",
     .confirm =
         "Run both versions with `NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=TUNING` and compare at the sizes that "
         "became slow.",
     .fix =
         "Remove the change (variable, tuner plugin, NCCL version) or accept it and record a new baseline. "
         "Workaround: pin NCCL_ALGO or NCCL_PROTO on all ranks; it ages badly.",
     .recovery = RecoveryLevel::kNone,
     .fault_domain = FaultDomain::kEnvironment},

    {.code = "topology_drift",
     .title = "the machine's topology is not what it was",
     .categories = kSlow,
     .means =
         "GPUs, adapters, NUMA nodes or links stand in another relation than recorded: a card was moved, a "
         "link is missing, firmware or a virtual machine presents it otherwise.",
     .shows =
         "`nvidia-smi topo -m`, link widths or the number of NVLinks differ from the fingerprint; NCCL's "
         "GRAPH lines find fewer channels.",
     .confirm =
         "Compare with a healthy node of the same class: `nvidia-smi topo -m`, `nvidia-smi nvlink -s`, "
         "`lspci -tv`.",
     .fix = "Restore slot, cabling, firmware setting or virtual machine layout. If the change is meant, "
            "record a "
            "new fingerprint and baseline.",
     .recovery = RecoveryLevel::kNone,
     .fault_domain = FaultDomain::kHost},

    {.code = "below_baseline",
     .title = "measured slower than the baseline, the reason is not known yet",
     .categories = kSlow,
     .means = "The measurement lies below what this node, or its class, did before, by more than its usual "
              "spread. It says that something changed, not what.",
     .shows = "Repeated runs at neighbouring sizes are outside the baseline's spread.",
     .confirm =
         "Run it again alone on the node, then with another partner: `all_reduce_perf -b 8K -e 1G -f 2 -g 8 "
         "-n 100 -w 20`. Compare clocks, links and versions with a healthy node.",
     .fix = "Follow what differs. Keep the node out of latency-bound service until it passes.",
     .recovery = RecoveryLevel::kNone,
     .fault_domain = FaultDomain::kUnknown},

    {.code = "size_cliff",
     .title = "performance collapses at certain message sizes only",
     .categories = kSlow,
     .means = "At some sizes NCCL switches protocol or algorithm, and on this machine the switch is badly "
              "placed; or buffers overflow in the network at that size.",
     .shows =
         "The curve of bandwidth over size has a step down that the baseline has not, the rest is normal.",
     .confirm =
         "`NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=TUNING all_reduce_perf -b 8K -e 1G -f 2 -g 8`: what changes at "
         "the step? Again with NCCL_PROTO fixed on both sides of it.",
     .fix = "Report it with the curve, or use the vendor's tuner plugin. Workaround: pin NCCL_PROTO or "
            "NCCL_ALGO "
            "on all ranks, measured for your sizes.",
     .recovery = RecoveryLevel::kNone,
     .fault_domain = FaultDomain::kEnvironment},

    {.code = "gpu_throttled",
     .title = "a GPU runs at reduced clocks",
     .categories = kSlow,
     .means =
         "Power limit, temperature or a hardware slowdown signal holds one GPU's clocks below its peers', "
         "and the whole group takes its pace.",
     .shows = "Lower SM clock under load than the peers; active clock event reasons other than idle or "
              "application setting.",
     .confirm =
         "Under load: `nvidia-smi -q -d PERFORMANCE,CLOCK,POWER,TEMPERATURE`. HW Slowdown or HW Power Brake: "
         "power supply or cooling. SW Power Cap: compare the power limits of the nodes.",
     .fix = "Restore cooling, power supply or power limit (`nvidia-smi -pl WATTS`), remove locked clocks "
            "(`nvidia-smi -rgc`). Re-test the GPU before it serves again.",
     .recovery = RecoveryLevel::kNone,
     .fault_domain = FaultDomain::kGpu},
};

}  // namespace

std::span<const CauseInfo> performance() {
  return kCauses;
}

}  // namespace unhang::model::causes
