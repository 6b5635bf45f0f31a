// SPDX-License-Identifier: Apache-2.0
#include "checks/variable_names.h"

#include <algorithm>
#include <array>

#include "base/printable.h"
#include "base/similar.h"
#include "checks/known_variables.h"

namespace unhang::checks {
namespace {

// Read by NCCL, its plugins or build systems, and nothing that a rule would have to know (NCCL's NCCL_PARAM
// and ncclGetEnv, up to 2.30). Ascending.
constexpr std::array<std::string_view, 103> kAlsoRead{
    "NCCL_AGG_CHANNEL_SIZE",
    "NCCL_ALLOC_P2P_NET_LL_BUFFERS",
    "NCCL_ALLREDUCE_ALGO",
    "NCCL_BUILD_DIR",
    "NCCL_CGA_CLUSTER_SIZE",
    "NCCL_CHUNK_SIZE",
    "NCCL_COLLNET_PLUGIN",
    "NCCL_CONNECT_ROUND_MAX_PEERS",
    "NCCL_CREATE_THREAD_CONTEXT",
    "NCCL_DIR",
    "NCCL_ENABLE_DMABUF_SUPPORT",
    "NCCL_ENV_PLUGIN",
    "NCCL_FORCE_FLUSH",
    "NCCL_GDRCOPY_FIFO_ENABLE",
    "NCCL_GDRCOPY_FLUSH_ENABLE",
    "NCCL_GDRCOPY_SYNC_ENABLE",
    "NCCL_GDR_FLUSH_DISABLE",
    "NCCL_GIN_ENABLE",
    "NCCL_GIN_PLUGIN",
    "NCCL_GIN_TYPE",
    "NCCL_GRAPH_DUMP_FILE_RANK",
    "NCCL_GRAPH_FILE",
    "NCCL_GRAPH_HELPER_DISABLE",
    "NCCL_GROUP_CUDA_STREAM",
    "NCCL_HOME",
    "NCCL_IBEXT_DISABLE",
    "NCCL_IB_ADDR_FAMILY",
    "NCCL_IB_ADDR_RANGE",
    "NCCL_IB_ASYNC_EVENTS",
    "NCCL_IB_DATA_DIRECT",
    "NCCL_IB_DEVICE_PCI_ORDER",
    "NCCL_IB_FIFO_TC",
    "NCCL_IB_GDR_FLUSH_DISABLE",
    "NCCL_IB_IS_GLOBAL",
    "NCCL_IB_MERGE_VFS",
    "NCCL_IB_MQP_RETRY_ALL",
    "NCCL_IB_OOO_RQ",
    "NCCL_IB_PKEY",
    "NCCL_IB_RECEIVER_SIDE_MATCHING_SCHEME",
    "NCCL_IB_ROCE_VERSION_NUM",
    "NCCL_IB_ROUTABLE_FLID_GID_INDEX",
    "NCCL_IB_USE_INLINE",
    "NCCL_IB_WARN_RAIL_LOCAL",
    "NCCL_INCLUDE_DIR",
    "NCCL_INSPECTOR_DUMP_DIR",
    "NCCL_INSPECTOR_DUMP_THREAD_INTERVAL_MICROSECONDS",
    "NCCL_INSPECTOR_DUMP_VERBOSE",
    "NCCL_L1_SHARED_MEMORY_CARVEOUT",
    "NCCL_LAUNCH_ORDER_IMPLICIT",
    "NCCL_LAUNCH_RACE_FATAL",
    "NCCL_LIB_DIR",
    "NCCL_LL128_BUFFSIZE",
    "NCCL_LL128_C2C",
    "NCCL_LL128_NTHREADS",
    "NCCL_LL_BUFFSIZE",
    "NCCL_MAX_P2P_NCHANNELS",
    "NCCL_MEM_SYNC_DOMAIN",
    "NCCL_MIN_P2P_NCHANNELS",
    "NCCL_MNNVL_CLIQUE_ID",
    "NCCL_MNNVL_CLIQUE_SIZE",
    "NCCL_MNNVL_SCATTER_NETS_ENABLE",
    "NCCL_MNNVL_UUID",
    "NCCL_MULTI_RANK_GPU_ENABLE",
    "NCCL_NCHANNELS_PER_NET_PEER",
    "NCCL_NET_FORCE_FLUSH",
    "NCCL_NET_FORCE_MERGE",
    "NCCL_NET_MERGE_LEVEL",
    "NCCL_NET_OPTIONAL_RECV_COMPLETION",
    "NCCL_NET_OVERHEAD",
    "NCCL_NET_SHARED_BUFFERS",
    "NCCL_NET_SHARED_COMMS",
    "NCCL_NO_CACHE",
    "NCCL_NVB_PRECONNECT",
    "NCCL_NVLSTREE_MAX_CHUNKSIZE",
    "NCCL_NVLS_CHUNKSIZE",
    "NCCL_NVLS_NCHANNELS",
    "NCCL_P2P_LL_THRESHOLD",
    "NCCL_P2P_NET_CHUNKSIZE",
    "NCCL_P2P_NVL_CHUNKSIZE",
    "NCCL_P2P_PCI_CHUNKSIZE",
    "NCCL_P2P_PXN_LEVEL",
    "NCCL_P2P_READ_ENABLE",
    "NCCL_P2P_USE_CUDA_MEMCPY",
    "NCCL_PAT_ENABLE",
    "NCCL_PROFILE_EVENT_MASK",
    "NCCL_PROXY_APPEND_BATCH_SIZE",
    "NCCL_PROXY_DUMP_SIGNAL",
    "NCCL_PXN_C2C",
    "NCCL_RAS_TIMEOUT",
    "NCCL_REPORT_CONNECT_PROGRESS",
    "NCCL_ROOT",
    "NCCL_ROOT_DIR",
    "NCCL_SHM_LOCALITY",
    "NCCL_SHM_MEMCPY_MODE",
    "NCCL_SHM_USE_CUDA_MEMCPY",
    "NCCL_SOCKET_INLINE",
    "NCCL_SOCKET_MIN_TASKSIZE",
    "NCCL_THREAD_THRESHOLDS",
    "NCCL_TOPO_DUMP_FILE_RANK",
    "NCCL_TUNER_CONFIG_FILE",
    "NCCL_UID_STAGGER_RATE",
    "NCCL_UID_STAGGER_THRESHOLD",
    "NCCL_VERSION",
};

// Names of which people believe that NCCL or PyTorch read them.
constexpr std::array<std::string_view, 5> kNobodyReads{
    "NCCL_DEBUG_LEVEL", "NCCL_LOG_FILE", "NCCL_SOCKET_TIMEOUT", "NCCL_TIMEOUT", "TORCH_NCCL_TIMEOUT"};

constexpr std::array<std::string_view, 3> kPrefixes{"TORCH_NCCL_", "TORCH_FR_", "NCCL_"};

constexpr std::size_t kNear = 2;          // letters that may differ
constexpr std::size_t kShortStem = 4;     // of a stem this short one letter
constexpr std::size_t kLongestRest = 4;   // "SUBSYSTEM" for "SUBSYS"
constexpr std::size_t kLongestName = 96;  // longer ones are nobody's slip

std::size_t prefix_length(std::string_view name) {
  for (const std::string_view prefix : kPrefixes) {
    if (name.starts_with(prefix)) return prefix.size();
  }
  return 0;
}

bool is_read(std::string_view name) {
  const auto renamed = renamed_variables();
  return find_known(name) != nullptr || std::binary_search(kAlsoRead.begin(), kAlsoRead.end(), name) ||
         std::any_of(renamed.begin(), renamed.end(),
                     [&](const RenamedVariable& variable) { return variable.old_name == name; });
}

// One is the beginning of the other, and what is left is the rest of a word.
bool is_longer_word(std::string_view a, std::string_view b) {
  if (a.size() > b.size()) std::swap(a, b);
  const std::string_view rest = b.substr(a.size());
  return b.starts_with(a) && rest.size() <= kLongestRest && rest.find('_') == std::string_view::npos &&
         a.size() - prefix_length(a) >= kShortStem;
}

// How near a name is; 0: not near. Smaller is nearer.
std::size_t distance(std::string_view name, std::string_view known) {
  const std::size_t stem = known.size() - prefix_length(known);
  const std::size_t longer = std::max(name.size(), known.size());
  const std::size_t most = stem <= kShortStem ? 1 : kNear;
  if (longer - std::min(name.size(), known.size()) <= most) {
    if (const std::size_t letters = base::edit_distance(name, known); letters <= most) return letters;
  }
  return is_longer_word(name, known) ? kNear + 1 : 0;
}

// The same name behind another prefix: NCCL_DUMP_ON_TIMEOUT for TORCH_NCCL_DUMP_ON_TIMEOUT.
std::string_view behind_other_prefix(std::string_view name) {
  const std::string_view stem = name.substr(prefix_length(name));
  for (const std::string_view prefix : kPrefixes) {
    if (const KnownVariable* known = find_known(std::string(prefix).append(stem))) return known->name;
  }
  return {};
}

std::string_view meant_by(std::string_view name) {
  if (name.size() > kLongestName) return {};
  if (const std::string_view other = behind_other_prefix(name); !other.empty()) return other;
  std::string_view nearest;
  std::size_t least = kNear + 2;
  const auto look_at = [&](std::string_view known) {
    const std::size_t far = distance(name, known);
    if (far == 0 || far >= least) return;
    least = far;
    nearest = known;
  };
  for (const KnownVariable& known : known_variables()) look_at(known.name);
  for (const std::string_view known : kAlsoRead) look_at(known);
  return nearest;
}

}  // namespace

NameVerdict verdict_of_name(std::string_view name) {
  if (prefix_length(name) == 0 || is_read(name)) return {};
  if (std::find(kNobodyReads.begin(), kNobodyReads.end(), name) != kNobodyReads.end())
    return {.kind = NameKind::kNobodys};
  const std::string_view meant = meant_by(name);
  if (meant.empty()) return {.kind = NameKind::kNotKnown};
  return {.kind = NameKind::kMisspelt, .meant = meant};
}

void add_unknown_names(const Environment& environment, std::set<std::string>& names) {
  for (const Variable& variable : environment.variables) {
    if (verdict_of_name(variable.name).kind == NameKind::kNotKnown) names.insert(variable.name);
  }
}

std::optional<std::string> words_of_unknown_names(const std::set<std::string>& names) {
  constexpr std::size_t kMost = 5;
  if (names.empty()) return std::nullopt;
  std::string list;
  std::size_t shown = 0;
  for (const std::string& name : names) {
    if (++shown > kMost) break;
    list += (list.empty() ? "" : ", ") + base::printable(name);
  }
  if (names.size() > kMost) list += " and " + std::to_string(names.size() - kMost) + " more";
  return "not known to unhang, and not judged: " + list;
}

}  // namespace unhang::checks
