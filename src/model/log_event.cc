// SPDX-License-Identifier: Apache-2.0
#include "model/log_event.h"

#include <array>

namespace unhang::model {
namespace {

struct Row {
  std::string_view name;
  LogRole role;
};

// In the order of LogEventKind.
constexpr Row kRows[] = {
    {"interface_missing", LogRole::kCause},
    {"interface_chosen", LogRole::kNormal},
    {"network_chosen", LogRole::kNormal},
    {"hca_list", LogRole::kNormal},
    {"no_hca", LogRole::kNote},
    {"plugin_loaded", LogRole::kNormal},
    {"plugin_missing", LogRole::kNormal},
    {"environment", LogRole::kNormal},
    {"connect_failed", LogRole::kEither},
    {"connect_retry", LogRole::kNote},
    {"connection_closed", LogRole::kEither},
    {"connection_reset", LogRole::kEither},
    {"duplicate_gpu", LogRole::kCause},
    {"duplicate_rank", LogRole::kCause},
    {"rank_count_mismatch", LogRole::kCause},
    {"bootstrap_truncated", LogRole::kEither},
    {"nccl_version_mismatch", LogRole::kCause},
    {"net_device_mismatch", LogRole::kCause},
    {"shared_memory_failed", LogRole::kCause},
    {"device_not_accessible", LogRole::kCause},
    {"memory_lock", LogRole::kCause},
    {"racing_threads", LogRole::kCause},
    {"gpu_direct_disabled", LogRole::kNote},
    {"peer_access_disabled", LogRole::kNote},
    {"peer_access_ok", LogRole::kNormal},
    {"peer_access_missing", LogRole::kNote},
    {"sysfs_missing", LogRole::kNote},
    {"mnnvl", LogRole::kNote},
    {"cuda_error", LogRole::kEither},
    {"cuda_out_of_memory", LogRole::kCause},
    {"nvls_failed", LogRole::kCause},
    {"queue_pair_failed", LogRole::kCause},
    {"completion_error", LogRole::kEither},
    {"adapter_event", LogRole::kCause},
    {"fatal_communicator_error", LogRole::kEither},
    {"mismatch_hint", LogRole::kEither},
    {"net_size_mismatch", LogRole::kCause},
    {"proxy_error", LogRole::kConsequence},
    {"unwinding", LogRole::kConsequence},
    {"service_closed", LogRole::kNormal},
    {"other_warning", LogRole::kEither},
    {"ras_peer_dead", LogRole::kConsequence},
    {"nccl_error", LogRole::kEither},
    {"peer_error", LogRole::kConsequence},
    {"watchdog_stuck", LogRole::kEither},
    {"interpreter_lock", LogRole::kEither},
    {"dump_signal", LogRole::kConsequence},
    {"blocking_wait", LogRole::kEither},
    {"lagging_ranks", LogRole::kEither},
    {"store_key_missing", LogRole::kEither},
    {"store_unreachable", LogRole::kEither},
    {"store_timeout", LogRole::kEither},
    {"store_closed", LogRole::kConsequence},
    {"address_in_use", LogRole::kCause},
    {"rendezvous_failed", LogRole::kEither},
    {"gloo_closed", LogRole::kConsequence},
    {"gloo_timeout", LogRole::kEither},
    {"gloo_connect_failed", LogRole::kEither},
    {"monitored_barrier", LogRole::kEither},
    {"shape_mismatch_report", LogRole::kEither},
    {"exception", LogRole::kEither},
    {"fatal_signal", LogRole::kEither},
    {"driver_mismatch", LogRole::kCause},
    {"device_unavailable", LogRole::kCause},
    {"process_exit", LogRole::kEither},
    {"process_signalled", LogRole::kConsequence},
    {"out_of_memory_kill", LogRole::kCause},
    {"actor_died", LogRole::kEither},
    {"orchestrator_kill", LogRole::kCause},
    {"node_failed", LogRole::kCause},
    {"lines_collapsed", LogRole::kNote},
    {"engine_waits_for_worker", LogRole::kEither},
    {"engine_timeout", LogRole::kEither},
    {"engine_dead", LogRole::kConsequence},
    {"engine_watchdog", LogRole::kEither},
    {"cache_transfer_failed", LogRole::kEither},
    {"distributed_init_begin", LogRole::kNormal},
    {"distributed_init_end", LogRole::kNormal},
    {"engine_ready", LogRole::kNormal},
    {"request_progress", LogRole::kNormal},
    {"checkpoint", LogRole::kNormal},
    {"data_loading", LogRole::kNormal},
    {"weight_loading", LogRole::kNormal},
    {"compilation", LogRole::kNormal},
    {"training_step", LogRole::kNormal},
    {"training_end", LogRole::kNormal},
    {"data_worker_killed", LogRole::kCause},
    {"xid", LogRole::kCause},
    {"recovery_action", LogRole::kCause},
    {"sxid", LogRole::kCause},
    {"gpu_lost", LogRole::kCause},
    {"gpu_init_failed", LogRole::kCause},
    {"pcie_corrected", LogRole::kNote},
    {"pcie_error", LogRole::kCause},
    {"pcie_link_down", LogRole::kCause},
    {"iommu_fault", LogRole::kCause},
    {"iommu_enabled", LogRole::kNote},
    {"acs_enabled", LogRole::kNote},
    {"ecc_error", LogRole::kCause},
    {"host_memory_error", LogRole::kEither},
    {"hung_task", LogRole::kEither},
    {"link_down", LogRole::kCause},
    {"link_up", LogRole::kNote},
    {"adapter_fault", LogRole::kCause},
    {"gid_table", LogRole::kNote},
    {"fabric_manager_error", LogRole::kCause},
    {"fabric_manager_ready", LogRole::kNormal},
    {"fabric_manager_missing", LogRole::kCause},
    {"nvlink_inactive", LogRole::kNote},
    {"gpu_idle_spin", LogRole::kNote},
    {"throttled", LogRole::kNote},
    {"test_failure", LogRole::kEither},
};
static_assert(std::size(kRows) == static_cast<std::size_t>(LogEventKind::kCount));

}  // namespace

std::string_view name_of(LogEventKind value) {
  return value < LogEventKind::kCount ? kRows[static_cast<std::size_t>(value)].name : "unknown";
}

LogRole role_of(LogEventKind value) {
  return value < LogEventKind::kCount ? kRows[static_cast<std::size_t>(value)].role : LogRole::kNormal;
}

}  // namespace unhang::model
