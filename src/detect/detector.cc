// SPDX-License-Identifier: Apache-2.0
#include "detect/detector.h"

#include <array>

namespace unhang::detect {
namespace {

constexpr std::array kDetectors{
    Detector{"ras_lost_process", "processes that RAS cannot reach", find_ras_lost_process},
    Detector{"call_mismatch", "members of a group that call different things at the same place",
             find_call_mismatch},
    Detector{"transfer_mismatch", "a send and its receive with different sizes", find_transfer_mismatch},
    Detector{"stopped_device", "a rank whose host goes on while its device finishes nothing",
             find_stopped_device},
    Detector{"not_entered", "ranks that the others wait for and that wait for nobody", find_not_entered},
    Detector{"wait_cycle", "ranks that wait for each other in a circle", find_wait_cycle},
    Detector{"launch_order", "ranks that launched operations of two groups in another order",
             find_launch_order},
    Detector{"ras_alive", "ranks without a dump whose processes answer RAS", find_ras_alive},
    Detector{"ras_initialization", "communicators that RAS shows as still being made, or failed",
             find_ras_initialization},
    Detector{"ras_lag", "ranks that launched fewer or other operations than their communicator",
             find_ras_lag},
    Detector{"silent_rank", "ranks that the others wait for and that left no usable evidence",
             find_silent_rank},
    Detector{"symmetric_stall", "everyone entered and nobody finished", find_symmetric_stall},
    Detector{"ras_peer_event", "processes that an event stream of RAS calls dead", find_ras_peer_event},
    Detector{"engine_stall", "an engine that has work and makes no token", find_engine_stall},
    Detector{"ras_error", "asynchronous errors that RAS shows", find_ras_error},
    Detector{"ras_teardown", "communicators that some ranks have left", find_ras_teardown},
    Detector{"straggler", "a rank that arrives last again and again", find_straggler},
    Detector{"slow_transfer", "data that moves more slowly than it did, or than between other ranks",
             find_slow_transfer},
    Detector{"stale_watchdog", "operations that are unfinished on paper only", find_stale_watchdog},
    Detector{"log_device_fault", "GPUs and NVLinks that the kernel log reports as failed",
             find_log_device_fault},
    Detector{"log_process_end", "processes and nodes that were killed or crashed", find_log_process_end},
    Detector{"command_crash", "a command that crashed, or that the kernel killed for lack of memory",
             find_command_crash},
    Detector{"log_fabric", "an NVSwitch fabric that is not set up", find_log_fabric},
    Detector{"log_init_fault", "faults of the environment that NCCL or the driver says in plain words",
             find_log_init_fault},
    Detector{"log_link", "network links and adapters that went down", find_log_link},
    Detector{"log_gpu_memory", "a rank that ran out of GPU memory", find_log_gpu_memory},
    Detector{"log_rdma", "RDMA connections and transfers that failed", find_log_rdma},
    Detector{"log_call_mismatch", "ranks that logs show calling different things at the same place",
             find_log_call_mismatch},
    Detector{"log_network_path", "sockets that cannot be connected", find_log_network_path},
    Detector{"log_store", "a rendezvous store that is not reachable or lacks a key", find_log_store},
    Detector{"log_device_misuse", "a program that broke on its own GPU", find_log_device_misuse},
    Detector{"log_lag", "ranks that logs show behind or ahead of their group", find_log_lag},
    Detector{"log_exception", "a rank whose program failed by itself", find_log_exception},
    Detector{"process_stacks", "where the stacks of live processes stand", find_process_stacks},
    Detector{"log_host_work", "a host that was busy when the others began to wait", find_log_host_work},
    Detector{"log_init_hang", "communicators that were begun and never complete", find_log_init_hang},
    Detector{"log_cuda_error", "CUDA calls that failed for no reason that another detector knows",
             find_log_cuda_error},
    Detector{"log_other_warning", "warnings of NCCL in unknown words", find_log_other_warning},
    Detector{"log_cache_transfer", "transfers of the key-value cache that failed", find_log_cache_transfer},
    Detector{"log_worker_died", "a worker that died for no stated reason", find_log_worker_died},
    Detector{"log_peer_lost", "connections that the other side ended", find_log_peer_lost},
    Detector{"log_stuck_host", "a watchdog or an engine whose worker does not answer", find_log_stuck_host},
    Detector{"log_peer_access", "direct access between GPUs that is offered and does not work",
             find_log_peer_access},
    Detector{"log_symmetric", "time-outs that nothing else explains", find_log_symmetric},
    Detector{"command_end", "a command that ended with a status or by a signal", find_command_end},
    Detector{"log_slow_path", "a slower path than the machines have", find_log_slow_path},
};

}  // namespace

std::span<const Detector> detector_catalogue() {
  return kDetectors;
}

}  // namespace unhang::detect
