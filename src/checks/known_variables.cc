// SPDX-License-Identifier: Apache-2.0
#include "checks/known_variables.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>

namespace unhang::checks {
namespace {

using enum ValueKind;

constexpr std::array kKnown{
    KnownVariable{"CUDA_LAUNCH_BLOCKING"},
    KnownVariable{"NCCL_ALGO"},
    KnownVariable{"NCCL_BUFFSIZE", kNcclInteger},
    KnownVariable{"NCCL_CHECK_POINTERS", kNcclInteger},
    KnownVariable{"NCCL_COLLNET_ENABLE", kNcclInteger},
    KnownVariable{"NCCL_COLLNET_NODE_THRESHOLD", kNcclInteger},
    KnownVariable{"NCCL_COMM_BLOCKING", kNcclInteger},
    KnownVariable{"NCCL_COMM_ID"},
    KnownVariable{"NCCL_COMM_SPLIT_SHARE_RESOURCES", kNcclInteger},
    KnownVariable{"NCCL_CONF_FILE"},
    KnownVariable{"NCCL_CROSS_NIC", kNcclInteger},
    KnownVariable{"NCCL_CTA_POLICY"},
    KnownVariable{"NCCL_CUMEM_ENABLE", kNcclInteger},
    KnownVariable{"NCCL_CUMEM_HOST_ENABLE", kNcclInteger},
    KnownVariable{"NCCL_DEBUG"},
    KnownVariable{"NCCL_DEBUG_FILE"},
    KnownVariable{"NCCL_DEBUG_SUBSYS"},
    KnownVariable{"NCCL_DEBUG_TIMESTAMP_FORMAT", kText, 26},
    KnownVariable{"NCCL_DEBUG_TIMESTAMP_LEVELS", kText, 26},
    KnownVariable{"NCCL_DMABUF_ENABLE", kNcclInteger},
    KnownVariable{"NCCL_GDRCOPY_ENABLE", kNcclInteger},
    KnownVariable{"NCCL_GRAPH_DUMP_FILE"},
    KnownVariable{"NCCL_GRAPH_MIXING_SUPPORT", kNcclInteger},
    KnownVariable{"NCCL_GRAPH_REGISTER", kNcclInteger},
    KnownVariable{"NCCL_HOSTID"},
    KnownVariable{"NCCL_IB_ADAPTIVE_ROUTING", kNcclInteger},
    KnownVariable{"NCCL_IB_AR_THRESHOLD", kNcclInteger},
    KnownVariable{"NCCL_IB_DISABLE", kNcclInteger},
    KnownVariable{"NCCL_IB_ECE_ENABLE", kNcclInteger},
    KnownVariable{"NCCL_IB_GID_INDEX", kNcclInteger},
    KnownVariable{"NCCL_IB_HCA"},
    KnownVariable{"NCCL_IB_MERGE_NICS", kNcclInteger},
    KnownVariable{"NCCL_IB_PCI_RELAXED_ORDERING", kNcclInteger},
    KnownVariable{"NCCL_IB_QPS_PER_CONNECTION", kNcclInteger},
    KnownVariable{"NCCL_IB_RETRY_CNT", kNcclInteger},
    KnownVariable{"NCCL_IB_RETURN_ASYNC_EVENTS", kNcclInteger},
    KnownVariable{"NCCL_IB_SL", kNcclInteger},
    KnownVariable{"NCCL_IB_SPLIT_DATA_ON_QPS", kNcclInteger},
    KnownVariable{"NCCL_IB_TC", kNcclInteger},
    KnownVariable{"NCCL_IB_TIMEOUT", kNcclInteger},
    KnownVariable{"NCCL_IGNORE_CPU_AFFINITY", kNcclInteger},
    KnownVariable{"NCCL_IGNORE_DISABLED_P2P", kNcclInteger},
    KnownVariable{"NCCL_INSPECTOR_ENABLE", kNcclInteger},
    KnownVariable{"NCCL_LAUNCH_MODE"},
    KnownVariable{"NCCL_LOCAL_REGISTER", kNcclInteger},
    KnownVariable{"NCCL_MAX_CTAS", kNcclInteger},
    KnownVariable{"NCCL_MAX_NCHANNELS", kNcclInteger},
    KnownVariable{"NCCL_MIN_CTAS", kNcclInteger},
    KnownVariable{"NCCL_MIN_NCHANNELS", kNcclInteger},
    KnownVariable{"NCCL_MNNVL_ENABLE", kNcclInteger},
    KnownVariable{"NCCL_NET"},
    KnownVariable{"NCCL_NET_DISABLE_INTRA", kNcclInteger},
    KnownVariable{"NCCL_NET_GDR_LEVEL"},
    KnownVariable{"NCCL_NET_GDR_READ", kNcclInteger},
    KnownVariable{"NCCL_NET_PLUGIN"},
    KnownVariable{"NCCL_NSOCKS_PERTHREAD", kNcclInteger},
    KnownVariable{"NCCL_NTHREADS", kNcclInteger},
    KnownVariable{"NCCL_NVB_DISABLE", kNcclInteger},
    KnownVariable{"NCCL_NVLS_ENABLE", kNcclInteger},
    KnownVariable{"NCCL_OOB_NET_ENABLE", kNcclInteger},
    KnownVariable{"NCCL_OOB_NET_IFNAME"},
    KnownVariable{"NCCL_P2P_DIRECT_DISABLE", kNcclInteger},
    KnownVariable{"NCCL_P2P_DISABLE", kNcclInteger},
    KnownVariable{"NCCL_P2P_LEVEL"},
    KnownVariable{"NCCL_PROFILER_PLUGIN"},
    KnownVariable{"NCCL_PROGRESS_APPENDOP_FREQ", kNcclInteger},
    KnownVariable{"NCCL_PROTO"},
    KnownVariable{"NCCL_PXN_DISABLE", kNcclInteger},
    KnownVariable{"NCCL_RAS_ADDR", kText, 24},
    KnownVariable{"NCCL_RAS_ENABLE", kNcclInteger, 24},
    KnownVariable{"NCCL_RAS_TIMEOUT_FACTOR", kNcclInteger, 24},
    KnownVariable{"NCCL_RUNTIME_CONNECT", kNcclInteger},
    KnownVariable{"NCCL_SET_STACK_SIZE", kNcclInteger},
    KnownVariable{"NCCL_SET_THREAD_NAME", kNcclInteger},
    KnownVariable{"NCCL_SHM_DISABLE", kNcclInteger},
    KnownVariable{"NCCL_SOCKET_FAMILY"},
    KnownVariable{"NCCL_SOCKET_IFNAME"},
    KnownVariable{"NCCL_SOCKET_NTHREADS", kNcclInteger},
    KnownVariable{"NCCL_SOCKET_RETRY_CNT", kNcclInteger},
    KnownVariable{"NCCL_SOCKET_RETRY_SLEEP_MSEC", kNcclInteger},
    KnownVariable{"NCCL_TOPO_DUMP_FILE"},
    KnownVariable{"NCCL_TOPO_FILE"},
    KnownVariable{"NCCL_TUNER_PLUGIN"},
    KnownVariable{"NCCL_WARN_ENABLE_DEBUG_INFO", kNcclInteger},
    KnownVariable{"NCCL_WORK_FIFO_BYTES", kNcclInteger},
    KnownVariable{"RAY_DEDUP_LOGS"},
    KnownVariable{"TORCH_CPP_LOG_LEVEL"},
    KnownVariable{"TORCH_DISTRIBUTED_DEBUG"},
    KnownVariable{"TORCH_FR_BUFFER_SIZE", kTorchInteger, 8},
    KnownVariable{"TORCH_FR_CPP_STACK", kTorchBoolean, 8},
    KnownVariable{"TORCH_FR_DUMP_DYNAMIC_FILE_NAME", kTorchBoolean, 9},
    KnownVariable{"TORCH_FR_DUMP_ON_TIMEOUT", kTorchBoolean, 15},
    KnownVariable{"TORCH_FR_DUMP_TEMP_FILE", kText, 8},
    KnownVariable{"TORCH_FR_WAIT_TIMEOUT_DUMP_MILSEC", kTorchInteger, 15},
    KnownVariable{"TORCH_INCLUDE_ONLY_ACTIVE", kTorchBoolean},
    KnownVariable{"TORCH_INCLUDE_STACK_TRACE", kTorchBoolean},
    KnownVariable{"TORCH_NCCL_ASYNC_ERROR_HANDLING", kTorchInteger, 2},
    KnownVariable{"TORCH_NCCL_AVOID_RECORD_STREAMS", kTorchBoolean},
    KnownVariable{"TORCH_NCCL_BCAST_UNIQUEID", kTorchBoolean},
    KnownVariable{"TORCH_NCCL_BLOCKING_WAIT", kTorchBoolean, 2},
    KnownVariable{"TORCH_NCCL_COORD_CHECK_MILSEC", kTorchInteger, 2},
    KnownVariable{"TORCH_NCCL_CUDA_EVENT_CACHE", kTorchBoolean, 5},
    KnownVariable{"TORCH_NCCL_DEBUG_INFO_PIPE_FILE", kText, 3},
    KnownVariable{"TORCH_NCCL_DEBUG_INFO_TEMP_FILE", kText, 2},
    KnownVariable{"TORCH_NCCL_DESYNC_DEBUG", kTorchBoolean, 2},
    KnownVariable{"TORCH_NCCL_DUMP_ON_TIMEOUT", kTorchBoolean, 2},
    KnownVariable{"TORCH_NCCL_ENABLE_MONITORING", kTorchBoolean},
    KnownVariable{"TORCH_NCCL_ENABLE_TIMING", kTorchBoolean, 2},
    KnownVariable{"TORCH_NCCL_EXTRA_DUMP_ON_EXEC", kTorchBoolean, 9},
    KnownVariable{"TORCH_NCCL_HEARTBEAT_TIMEOUT_SEC", kTorchInteger},
    KnownVariable{"TORCH_NCCL_HIGH_PRIORITY", kTorchBoolean},
    KnownVariable{"TORCH_NCCL_LOG_CPP_STACK_ON_UNCLEAN_SHUTDOWN", kTorchBoolean},
    KnownVariable{"TORCH_NCCL_NAN_CHECK", kTorchBoolean},
    KnownVariable{"TORCH_NCCL_NONBLOCKING_TIMEOUT", kTorchInteger},
    KnownVariable{"TORCH_NCCL_PROPAGATE_ERROR", kTorchBoolean},
    KnownVariable{"TORCH_NCCL_RANKS_PER_ROOT", kTorchInteger},
    KnownVariable{"TORCH_NCCL_RETHROW_CUDA_ERRORS", kTorchBoolean},
    KnownVariable{"TORCH_NCCL_SHOW_EAGER_INIT_P2P_SERIALIZATION_WARNING", kTorchBoolean},
    KnownVariable{"TORCH_NCCL_TRACE_BUFFER_SIZE", kTorchInteger, 2},
    KnownVariable{"TORCH_NCCL_TRACE_CPP_STACK", kTorchBoolean, 2},
    KnownVariable{"TORCH_NCCL_USE_COMM_NONBLOCKING", kTorchBoolean},
    KnownVariable{"TORCH_NCCL_USE_TENSOR_REGISTER_ALLOCATOR_HOOK", kTorchBoolean},
    KnownVariable{"TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC", kTorchInteger, 2},
    KnownVariable{"TZ"},
    KnownVariable{"VLLM_ENGINE_ITERATION_TIMEOUT_S", kInteger},
    KnownVariable{"VLLM_ENGINE_READY_TIMEOUT_S", kInteger},
    KnownVariable{"VLLM_EXECUTE_MODEL_TIMEOUT_SECONDS", kInteger},
    KnownVariable{"VLLM_RAY_EXTRA_ENV_VARS_TO_COPY"},
    KnownVariable{"VLLM_RAY_EXTRA_ENV_VAR_PREFIXES_TO_COPY"},
    KnownVariable{"VLLM_RPC_TIMEOUT", kInteger},
    KnownVariable{"VLLM_SERVER_DEV_MODE"},
};

constexpr std::array kRenamed{
    // PyTorch 2.2 gave its own variables the prefix TORCH_; the old names are still read.
    RenamedVariable{"NCCL_BLOCKING_WAIT", "TORCH_NCCL_BLOCKING_WAIT", true, 2, 0},
    RenamedVariable{"NCCL_ASYNC_ERROR_HANDLING", "TORCH_NCCL_ASYNC_ERROR_HANDLING", true, 2, 0},
    RenamedVariable{"NCCL_DESYNC_DEBUG", "TORCH_NCCL_DESYNC_DEBUG", true, 2, 0},
    RenamedVariable{"NCCL_ENABLE_TIMING", "TORCH_NCCL_ENABLE_TIMING", true, 2, 0},
    RenamedVariable{"NCCL_USE_TENSOR_REGISTER_ALLOCATOR_HOOK",
                    "TORCH_NCCL_USE_TENSOR_REGISTER_ALLOCATOR_HOOK", true, 2, 0},
    // PyTorch 2.8: the recorder serves other libraries, too.
    RenamedVariable{"TORCH_NCCL_TRACE_BUFFER_SIZE", "TORCH_FR_BUFFER_SIZE", true, 8, 0},
    RenamedVariable{"TORCH_NCCL_DEBUG_INFO_TEMP_FILE", "TORCH_FR_DUMP_TEMP_FILE", true, 8, 0},
    RenamedVariable{"TORCH_NCCL_TRACE_CPP_STACK", "TORCH_FR_CPP_STACK", true, 8, 0},
    RenamedVariable{"TORCH_NCCL_DUMP_ON_TIMEOUT", "TORCH_FR_DUMP_ON_TIMEOUT", true, 15, 0},
    RenamedVariable{"TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC", "TORCH_FR_WAIT_TIMEOUT_DUMP_MILSEC", true, 15, 0},
    // NCCL's own, by its release notes and env.rst.
    RenamedVariable{"NCCL_CHECKS_DISABLE", "NCCL_CHECK_POINTERS", false, 2, 2},
    RenamedVariable{"NCCL_IB_CUDA_SUPPORT", "NCCL_NET_GDR_LEVEL", false, 3, 4},
    RenamedVariable{"NCCL_LL_THRESHOLD", "NCCL_PROTO", false, 5, 5},
    RenamedVariable{"NCCL_MAX_NRINGS", "NCCL_MAX_NCHANNELS", false, 5, 0},
    RenamedVariable{"NCCL_MIN_NRINGS", "NCCL_MIN_NCHANNELS", false, 5, 0},
    RenamedVariable{"NCCL_SINGLE_RING_THRESHOLD", "", false, 3, 3},
    RenamedVariable{"NCCL_TREE_THRESHOLD", "NCCL_ALGO", false, 5, 5},
};

}  // namespace

std::span<const KnownVariable> known_variables() {
  return kKnown;
}

const KnownVariable* find_known(std::string_view name) {
  const auto at = std::lower_bound(
      kKnown.begin(), kKnown.end(), name,
      [](const KnownVariable& known, std::string_view wanted) { return known.name < wanted; });
  return at == kKnown.end() || at->name != name ? nullptr : &*at;
}

std::span<const RenamedVariable> renamed_variables() {
  return kRenamed;
}

const Variable* find_under_any_name(const Environment& environment, const Software& software,
                                    std::string_view new_name) {
  const KnownVariable* known = find_known(new_name);
  if (known == nullptr || software.torch_since(known->since)) {
    if (const Variable* found = environment.find(new_name)) return found;
  }
  for (const RenamedVariable& renamed : kRenamed) {
    if (renamed.new_name != new_name) continue;
    if (const Variable* found = environment.find(renamed.old_name)) return found;
  }
  return nullptr;
}

std::optional<std::int64_t> integer_of(std::string_view text) {
  std::int64_t value = 0;
  const bool hex = text.starts_with("0x");
  if (hex) text.remove_prefix(2);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, hex ? 16 : 10);
  if (error != std::errc{} || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return value;
}

std::optional<bool> torch_boolean_of(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c); });
  for (const std::string_view yes : {"y", "yes", "1", "t", "true"}) {
    if (lower == yes) return true;
  }
  for (const std::string_view no : {"n", "no", "0", "f", "false"}) {
    if (lower == no) return false;
  }
  return std::nullopt;
}

std::int64_t nccl_integer_of(std::string_view text) {
  return std::strtoll(std::string(text).c_str(), nullptr, 0);
}

}  // namespace unhang::checks
