// SPDX-License-Identifier: Apache-2.0
//
// The detectors: pure functions from an Analysis to explanations, one file each. The catalogue lists them in
// order of sufficiency: when several explain the same stall, the earlier one is the cause and the later ones
// are its shadow.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "detect/analysis.h"
#include "detect/explanation.h"

namespace unhang::detect {

struct Detector {
  std::string_view id;     // "call_mismatch": also its page under docs/detectors/
  std::string_view finds;  // one line for people
  std::vector<Explanation> (*run)(const Analysis&);
};

std::span<const Detector> detector_catalogue();

std::vector<Explanation> find_ras_lost_process(const Analysis&);
std::vector<Explanation> find_ras_initialization(const Analysis&);
std::vector<Explanation> find_ras_alive(const Analysis&);
std::vector<Explanation> find_ras_lag(const Analysis&);
std::vector<Explanation> find_engine_stall(const Analysis&);
std::vector<Explanation> find_ras_peer_event(const Analysis&);
std::vector<Explanation> find_ras_error(const Analysis&);
std::vector<Explanation> find_ras_teardown(const Analysis&);
std::vector<Explanation> find_call_mismatch(const Analysis&);
std::vector<Explanation> find_transfer_mismatch(const Analysis&);
std::vector<Explanation> find_stopped_device(const Analysis&);
std::vector<Explanation> find_not_entered(const Analysis&);
std::vector<Explanation> find_wait_cycle(const Analysis&);
std::vector<Explanation> find_launch_order(const Analysis&);
std::vector<Explanation> find_silent_rank(const Analysis&);
std::vector<Explanation> find_symmetric_stall(const Analysis&);
std::vector<Explanation> find_straggler(const Analysis&);
std::vector<Explanation> find_slow_transfer(const Analysis&);
std::vector<Explanation> find_stale_watchdog(const Analysis&);
std::vector<Explanation> find_log_device_fault(const Analysis&);
std::vector<Explanation> find_log_process_end(const Analysis&);
std::vector<Explanation> find_log_fabric(const Analysis&);
std::vector<Explanation> find_log_init_fault(const Analysis&);
std::vector<Explanation> find_log_link(const Analysis&);
std::vector<Explanation> find_log_gpu_memory(const Analysis&);
std::vector<Explanation> find_log_rdma(const Analysis&);
std::vector<Explanation> find_log_call_mismatch(const Analysis&);
std::vector<Explanation> find_log_network_path(const Analysis&);
std::vector<Explanation> find_log_store(const Analysis&);
std::vector<Explanation> find_log_device_misuse(const Analysis&);
std::vector<Explanation> find_log_lag(const Analysis&);
std::vector<Explanation> find_log_exception(const Analysis&);
std::vector<Explanation> find_process_stacks(const Analysis&);
std::vector<Explanation> find_log_host_work(const Analysis&);
std::vector<Explanation> find_log_init_hang(const Analysis&);
std::vector<Explanation> find_log_cuda_error(const Analysis&);
std::vector<Explanation> find_log_other_warning(const Analysis&);
std::vector<Explanation> find_log_cache_transfer(const Analysis&);
std::vector<Explanation> find_log_worker_died(const Analysis&);
std::vector<Explanation> find_log_peer_lost(const Analysis&);
std::vector<Explanation> find_log_stuck_host(const Analysis&);
std::vector<Explanation> find_log_peer_access(const Analysis&);
std::vector<Explanation> find_log_symmetric(const Analysis&);
std::vector<Explanation> find_log_slow_path(const Analysis&);
std::vector<Explanation> find_command_crash(const Analysis&);
std::vector<Explanation> find_command_end(const Analysis&);

}  // namespace unhang::detect
