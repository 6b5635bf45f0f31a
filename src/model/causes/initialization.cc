// SPDX-License-Identifier: Apache-2.0
#include "model/causes/causes.h"

namespace unhang::model::causes {
namespace {

constexpr Category kInit[] = {Category::kInitializationHang};
constexpr Category kInitOrDesync[] = {Category::kInitializationHang, Category::kCollectiveDesync};
constexpr Category kInitOrTransport[] = {Category::kInitializationHang, Category::kTransportStall};

constexpr CauseInfo kCauses[] = {
    {.code = "rank_never_joined",
     .title = "a rank never joined the group that the others wait for",
     .categories = kInit,
     .means =
         "A group is ready only when every member has joined, and at least one never came. The others wait "
         "in initialisation or in their first operation. NCCL has no time-out of its own there.",
     .shows = "The rank left no record at all, or none in this group, while its peers stand before or in the "
              "group's first operation. In logs: NCCL 'Init START' without 'Init COMPLETE'; 'Init torch "
              "distributed begin.' without 'ends.'; 'vLLM is using nccl==' as the last line.",
     .confirm =
         "On the host of that rank: does the process exist, and where does it stand? "
         "`ps -eo pid,etime,stat,args | grep python`, then `py-spy dump --pid PID`. Compare what it was "
         "told: `tr '\\0' '\\n' < /proc/PID/environ | grep -E '^(RANK|WORLD_SIZE|MASTER_)'`.",
     .fix =
         "Start what is missing, or correct the world size, then start the whole group again. Move slow work "
         "(downloads, weight conversion) before initialisation, so that a late rank is seen as late.",
     .recovery = RecoveryLevel::kProcessGroup,
     .fault_domain = FaultDomain::kProcess},

    {.code = "bootstrap_unreachable",
     .title = "NCCL's bootstrap cannot connect to a peer",
     .categories = kInit,
     .means =
         "NCCL first joins the ranks over plain TCP (the bootstrap), on an interface that it chooses and on "
         "random ports. A rank cannot reach the address that another one published.",
     .shows =
         "Log lines 'connect to ADDR<PORT> returned Connection refused, exceeded error retry count', 'No "
         "route to host', 'Connection timed out', or 'Bootstrap : no socket interface found'.",
     .confirm = "From the host that waits, try the address of the log line: `nc -vz ADDR PORT`. Look which "
                "interfaces both hosts have: `ip -br addr`. Refused: nobody listens (the peer died or the "
                "address is lo or docker0). Timed out: a firewall or a wrong network.",
     .fix = "Let all TCP ports pass between the nodes of the job, and name the interface that routes between "
            "them on every rank: `NCCL_SOCKET_IFNAME=eth0`. Then start the whole group again.",
     .recovery = RecoveryLevel::kProcessGroup,
     .fault_domain = FaultDomain::kEnvironment},

    {.code = "interface_mismatch",
     .title = "ranks chose network interfaces that do not reach each other",
     .categories = kInit,
     .means =
         "Each rank picks its interface by itself. On hosts that differ (docker0, a second network, VPN), "
         "the addresses that they publish lie in networks without a route between them.",
     .shows =
         "'Bootstrap: Using IFACE:ADDR' or 'NET/Socket : Using ...' names different networks on different "
         "ranks; 'No interface found in the same subnet as remote address'.",
     .confirm =
         "Start with `NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,BOOTSTRAP,NET,ENV` and compare the 'Using' "
         "lines of all ranks; `ip -br addr` on a host that differs.",
     .fix =
         "Set the same choice on every worker, for NCCL and for gloo: `NCCL_SOCKET_IFNAME=eth0 "
         "GLOO_SOCKET_IFNAME=eth0`. To exclude instead: `NCCL_SOCKET_IFNAME=^lo,docker` (NCCL only). Check "
         "that the launcher hands the variables to the workers.",
     .recovery = RecoveryLevel::kProcessGroup,
     .fault_domain = FaultDomain::kEnvironment},

    {.code = "store_unreachable",
     .title = "the rendezvous store (TCPStore) cannot be reached",
     .categories = kInit,
     .means =
         "PyTorch's ranks meet in a key-value store that runs in rank 0 or in the torchrun agent. It is not "
         "there, not reachable, or it went away because its process died.",
     .shows =
         "'The client socket has failed to connect to [HOST]:29500', 'The client socket has timed out', "
         "'store->get(..) got error', 'recvValue failed', 'Broken pipe', errno 98 'Address already in use'.",
     .confirm =
         "From a waiting host: `nc -vz MASTER_ADDR MASTER_PORT` and `getent hosts MASTER_ADDR`. On the "
         "master: `ss -ltnp | grep MASTER_PORT`. If nothing listens, look why rank 0 ended: its log "
         "comes first.",
     .fix =
         "Correct the address, the DNS name or the firewall; choose another port when it is taken. If rank 0 "
         "ended, repair that. Then start the whole group again.",
     .recovery = RecoveryLevel::kProcessGroup,
     .fault_domain = FaultDomain::kEnvironment},

    {.code = "duplicate_gpu",
     .title = "two ranks use the same GPU",
     .categories = kInit,
     .means =
         "NCCL needs one GPU for each rank of a communicator. Two processes were given, or chose, the same "
         "device.",
     .shows =
         "'Duplicate GPU detected : rank A and rank B both on CUDA device ...'; from NCCL 2.30 'Multiple "
         "Ranks are using the same GPU/Partition'.",
     .confirm =
         "`nvidia-smi --query-compute-apps=gpu_uuid,pid --format=csv`: one UUID with two pids of the job. "
         "Compare `CUDA_VISIBLE_DEVICES` and `LOCAL_RANK` in /proc/PID/environ of both.",
     .fix = "Call `torch.cuda.set_device(LOCAL_RANK)` before the group is made, and start as many ranks on a "
            "node as it has GPUs. With one visible GPU for each task, use device 0 in every rank.",
     .recovery = RecoveryLevel::kProcessGroup,
     .fault_domain = FaultDomain::kApplication},

    {.code = "group_mismatch",
     .title = "ranks disagree about the group itself (size, members, id or backend)",
     .categories = kInitOrDesync,
     .means = "Members of what should be one group hold different ideas of it: another size, other members, "
              "another id or another backend. They wait for peers that belong, in their own view, elsewhere.",
     .shows =
         "The recorded member lists of one group differ between ranks; or in logs 'mismatch in info from "
         "procs', 'rank R of N ranks has already checked in' (two jobs on one id).",
     .confirm =
         "Compare pg_config in the dumps of two ranks that disagree, and print the arguments of every "
         "`new_group` call with the rank. Every rank has to call it for every group, in the same order, "
         "also for groups that it is not in.",
     .fix =
         "Derive all groups from the same configuration on every rank and create them unconditionally in one "
         "order. Give two jobs on one host different ports and addresses. Then rebuild the whole group.",
     .recovery = RecoveryLevel::kProcessGroup,
     .fault_domain = FaultDomain::kApplication},

    {.code = "version_mismatch",
     .title = "ranks run different versions of NCCL or PyTorch",
     .categories = kInit,
     .means =
         "The ranks of one communicator have to run the same NCCL version. Different images, or a library "
         "found first on one node's path, break that.",
     .shows = "NCCL 2.23 and later: 'Mismatched NCCL version detected : rank A version X rank B version Y'. "
              "Older ones hang, or say 'Message truncated : received A bytes instead of B' while connecting. "
              "Dumps carry different library or format versions.",
     .confirm =
         "On every node, inside the container: `python3 -c 'import torch; print(torch.__version__, "
         "torch.cuda.nccl.version())'`. For a running process: `grep -o '/.*libnccl.*' /proc/PID/maps | "
         "sort -u`.",
     .fix =
         "Pin one image by digest on all nodes and remove a second libnccl from LD_LIBRARY_PATH. Then start "
         "the whole group again.",
     .recovery = RecoveryLevel::kProcessGroup,
     .fault_domain = FaultDomain::kEnvironment},

    {.code = "env_mismatch",
     .title = "environment variables that must agree differ between ranks",
     .categories = kInitOrDesync,
     .means = "Variables such as NCCL_ALGO, NCCL_PROTO, NCCL_NET, NCCL_P2P_DISABLE, NCCL_CUMEM_ENABLE or "
              "NCCL_NVLS_ENABLE change how a rank talks. When ranks differ in them they plan different "
              "transfers, and wait for data that nobody sends.",
     .shows = "'NAME set by environment to VALUE' differs between ranks, or stands in the log of some only. "
              "Often one node of the job, or only the launcher's own node, has it.",
     .confirm =
         "On one worker of each node: `tr '\\0' '\\n' < /proc/PID/environ | grep -E "
         "'^(NCCL|TORCH|GLOO|UCX|FI)_' | sort`, then compare. Read the workers, not the launcher: ssh and "
         "Ray hand on only a part.",
     .fix =
         "Set the variables in one place that reaches every worker (image, job template, `mpirun -x`), look "
         "for a forgotten nccl.conf (/etc/nccl.conf, ~/.nccl.conf), and start the whole group again.",
     .recovery = RecoveryLevel::kProcessGroup,
     .fault_domain = FaultDomain::kEnvironment},

    {.code = "plugin_mismatch",
     .title = "a network or tuner plugin is loaded on some ranks only, or does not fit",
     .categories = kInit,
     .means =
         "NCCL loads network and tuner plugins (AWS Libfabric, HPC-X, gIB) where it finds them. Ranks with "
         "and without one use different transports and cannot connect, or the plugin does not fit this "
         "NCCL version.",
     .shows =
         "'Using network ...' differs between ranks; 'Detected mixed local Net device counts across ranks'; "
         "errors right after 'NET/Plugin'. A plain 'Could not find: libnccl-net.so' is normal where none "
         "is meant to be used.",
     .confirm = "Start with `NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,NET,ENV` and compare: "
                "`grep -hE 'NET/Plugin|Using network' LOGS | sort | uniq -c`.",
     .fix =
         "Same image and LD_LIBRARY_PATH on all nodes, and a plugin built for this NCCL version. Workaround "
         "where the fabric allows it, slower: `NCCL_NET_PLUGIN=none` on all ranks.",
     .recovery = RecoveryLevel::kProcessGroup,
     .fault_domain = FaultDomain::kEnvironment},

    {.code = "driver_library_mismatch",
     .title = "the NVIDIA libraries and the loaded kernel driver are of different versions",
     .categories = kInit,
     .means = "The driver was upgraded under a running node, or a container brings its own driver libraries. "
              "The user-space part refuses to talk to the kernel part, so no rank on this node can start.",
     .shows = "'Failed to initialize NVML: Driver/library version mismatch' or 'nvmlInit_v2() failed: "
              "Driver/library version mismatch'.",
     .confirm = "`nvidia-smi` prints the same error. Compare `cat /proc/driver/nvidia/version` with "
                "`modinfo -F version nvidia`.",
     .fix = "Take the node out of service, stop what uses the GPUs, and reboot it (or reload the nvidia "
            "modules). Hold driver packages back from unattended upgrades.",
     .recovery = RecoveryLevel::kNode,
     .fault_domain = FaultDomain::kHost,
     .isolates_node = true},

    {.code = "shm_exhausted",
     .title = "/dev/shm is too small for NCCL's shared buffers",
     .categories = kInit,
     .means =
         "Ranks on one host exchange data and set up connections through files in /dev/shm. A container's "
         "default of 64 MB is soon full, and data loader workers use the same space.",
     .shows =
         "'Error: failed to extend /dev/shm/nccl-XXXXXX to N bytes', 'No space left on device (28)', 'Error "
         "while creating shared memory segment'; sometimes only a bus error.",
     .confirm = "Inside the container: `df -h /dev/shm; ls -l /dev/shm | head`.",
     .fix =
         "Docker: `--shm-size=16g` (or `--ipc=host`). Kubernetes: mount an emptyDir with `medium: Memory` at "
         "/dev/shm. Remove stale /dev/shm/nccl-* files only while no job runs. Workaround, slower: "
         "`NCCL_SHM_DISABLE=1` on all ranks.",
     .recovery = RecoveryLevel::kProcessGroup,
     .fault_domain = FaultDomain::kEnvironment},

    {.code = "device_not_accessible",
     .title = "a process may not open its GPU or network device",
     .categories = kInit,
     .means =
         "The device exists, but this process cannot use it: it is not passed into the container, a device "
         "cgroup forbids it, or the limit on locked memory is too small for RDMA.",
     .shows =
         "'Unable to open device', 'no CUDA-capable device is detected', 'Call to ibv_create_cq failed', "
         "'Call to ibv_reg_mr failed' with ENOMEM, 'NET/IB : No device found.' in a container.",
     .confirm =
         "Inside the container, as the job's user: `nvidia-smi -L; ls -l /dev/nvidia* /dev/infiniband; "
         "ibv_devinfo | head; ulimit -l`.",
     .fix = "Pass the devices (GPU runtime or device plugin, RDMA device plugin, "
            "`--device=/dev/infiniband`), add "
            "the capability IPC_LOCK and set memlock to unlimited. Then start the whole group again.",
     .recovery = RecoveryLevel::kProcessGroup,
     .fault_domain = FaultDomain::kEnvironment},

    {.code = "fabric_manager",
     .title = "NVIDIA's fabric manager is not running, not ready or of the wrong version",
     .categories = kInitOrTransport,
     .means =
         "On machines with NVSwitch, GPUs can use NVLink only after the fabric manager has configured them "
         "(multi-node NVLink needs IMEX too). It is down, of another version than the driver, or was "
         "restarted under a running job.",
     .shows =
         "CUDA error 802 'system not yet initialized'; 401 or 1 'invalid argument' in transport/nvls.cc; "
         "fabric state 'In Progress' or 'Not Started'; errors in /var/log/fabricmanager.log.",
     .confirm =
         "`systemctl status nvidia-fabricmanager; nvidia-smi -q | grep -A 4 -w Fabric`: every GPU must "
         "say State Completed, Status Success. For NVL72: `systemctl status nvidia-imex`.",
     .fix =
         "Drain the node, install the fabric manager of the driver's own version, start it while no process "
         "uses a GPU, and see that the state is Completed before the node serves again.",
     .recovery = RecoveryLevel::kNode,
     .fault_domain = FaultDomain::kFabric,
     .isolates_node = true},

    {.code = "peer_unreachable",
     .title = "two hosts are up, but the network path between them does not work",
     .categories = kInitOrTransport,
     .means =
         "Both ends are alive and reach others, but not each other, on the network that carries the data. "
         "NCCL connects at the first use, so it may show only at the first operation.",
     .shows =
         "'No route to host', 'Connection timed out', or 'ibv_modify_qp failed' with error 110 or 101 for "
         "one pair of hosts only; the same pair again after a restart.",
     .confirm =
         "Between exactly these two, both directions: `ping -c 3 -I IFACE PEER_ADDR`, then for RDMA "
         "`ib_write_bw -d DEV` on one host and `ib_write_bw -d DEV PEER_ADDR` on the other. Each of them "
         "against a third host says which side it is.",
     .fix =
         "Repair route, VLAN, ACL or cable of the side that fails against the third host. Until then place "
         "the job on hosts without this pair.",
     .recovery = RecoveryLevel::kProcessGroup,
     .fault_domain = FaultDomain::kFabric},
};

}  // namespace

std::span<const CauseInfo> initialization() {
  return kCauses;
}

}  // namespace unhang::model::causes
