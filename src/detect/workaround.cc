// SPDX-License-Identifier: Apache-2.0
#include "detect/workaround.h"

#include <string>
#include <string_view>

namespace unhang::detect {
namespace {

struct Workaround {
  std::string_view cause;
  std::string_view setting;  // for all ranks
  std::string_view true_fix;
};

// What the catalogue's own text calls one (model/causes).
constexpr Workaround kWorkarounds[] = {
    {"p2p_blocked_by_iommu_or_acs", "NCCL_P2P_DISABLE=1", "ACS and IOMMU off, or iommu=pt"},
    {"p2p_corruption", "NCCL_P2P_DISABLE=1", "mend the machine"},
    {"gdr_broken", "NCCL_NET_GDR_LEVEL=LOC", "load nvidia-peermem, ACS off"},
    {"nvls_failure", "NCCL_NVLS_ENABLE=0", "restart the fabric manager"},
    {"shm_exhausted", "NCCL_SHM_DISABLE=1", "a larger /dev/shm"},
    {"plugin_mismatch", "NCCL_NET_PLUGIN=none", "one plugin on all hosts"},
};

}  // namespace

void add_workaround(const model::Verdict& verdict, std::vector<model::RecoveryStep>& out) {
  for (const Workaround& known : kWorkarounds) {
    if (known.cause != verdict.cause && known.cause != verdict.root) continue;
    out.push_back(
        {"workaround, slower, on all ranks until the true fix is done (" + std::string(known.true_fix) + ")",
         "export " + std::string(known.setting), true});
    return;
  }
}

}  // namespace unhang::detect
