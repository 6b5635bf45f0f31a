// SPDX-License-Identifier: Apache-2.0
#include "model/cause.h"

#include <algorithm>
#include <set>
#include <string>

#include <gtest/gtest.h>

namespace unhang::model {
namespace {

// The table of DESIGN, "Categories, and where each case belongs", with the text under it: a cause may stand
// in several.
struct Row {
  Category category;
  std::vector<std::string_view> codes;
};

const std::vector<Row>& design_table() {
  static const std::vector<Row> rows = {
      {Category::kInitializationHang,
       {"rank_never_joined", "bootstrap_unreachable", "interface_mismatch", "store_unreachable",
        "duplicate_gpu", "group_mismatch", "version_mismatch", "env_mismatch", "plugin_mismatch",
        "driver_library_mismatch", "shm_exhausted", "device_not_accessible", "fabric_manager",
        "peer_unreachable", "cuda_oom"}},
      {Category::kCollectiveDesync,
       {"rank_not_entered", "skipped_collective", "extra_collective", "op_mismatch", "size_mismatch",
        "dtype_mismatch", "root_mismatch", "order_inversion", "p2p_unmatched", "p2p_deadlock",
        "split_mismatch", "group_mismatch", "env_mismatch", "application_error", "host_blocked", "cuda_oom"}},
      {Category::kTransportStall,
       {"ib_retry_exceeded", "rnr", "link_down", "gid_or_route", "peer_unreachable",
        "p2p_blocked_by_iommu_or_acs", "p2p_corruption", "gdr_broken", "nvlink_fault", "fabric_manager",
        "nvls_failure", "hca_fault", "unknown"}},
      {Category::kPerformanceDegradation,
       {"straggler_rank", "slow_link", "wrong_interface", "fell_back_to_socket", "gdr_disabled",
        "algorithm_drift", "topology_drift", "below_baseline", "size_cliff", "gpu_throttled"}},
      {Category::kProcessOrDeviceUnavailable,
       {"process_exited", "oom_killed", "killed_by_orchestrator", "process_stopped", "rank_silent", "gpu_xid",
        "gpu_fallen_off_bus", "gpu_not_progressing", "node_unreachable", "cuda_oom"}},
      {Category::kNotCommunication, {"after_init", "application_error", "cuda_oom", "outside_coverage"}},
      {Category::kHealthy, {"stale_watchdog", "unknown"}},
      {Category::kInconclusive, {"unknown"}},
  };
  return rows;
}

bool holds(const CauseInfo& info, Category category) {
  return std::find(info.categories.begin(), info.categories.end(), category) != info.categories.end();
}

TEST(Cause, EveryCodeOfTheDesignTableIsThereUnderItsCategory) {
  for (const Row& row : design_table()) {
    for (const std::string_view code : row.codes) {
      const CauseInfo* info = find_cause(code);
      ASSERT_NE(info, nullptr) << code;
      EXPECT_EQ(info->code, code);
      EXPECT_TRUE(holds(*info, row.category)) << code << " under " << name_of(row.category);
    }
  }
}

TEST(Cause, NothingBeyondTheDesignTable) {
  std::set<std::string_view> known;
  for (const Row& row : design_table()) known.insert(row.codes.begin(), row.codes.end());
  for (const CauseInfo& info : cause_catalogue()) EXPECT_TRUE(known.contains(info.code)) << info.code;
  EXPECT_EQ(cause_catalogue().size(), known.size());
}

TEST(Cause, CodesAreUniqueWordsOfTheSchema) {
  std::set<std::string_view> seen;
  for (const CauseInfo& info : cause_catalogue()) {
    EXPECT_TRUE(seen.insert(info.code).second) << info.code;
    EXPECT_EQ(info.code.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_"), std::string_view::npos)
        << info.code;
  }
}

TEST(Cause, NoFieldIsEmptyAndAllIsPlainText) {
  for (const CauseInfo& info : cause_catalogue()) {
    EXPECT_FALSE(info.categories.empty()) << info.code;
    for (const std::string_view text : {info.title, info.means, info.shows, info.confirm, info.fix}) {
      EXPECT_GE(text.size(), 15u) << info.code;
      EXPECT_TRUE(std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; }))
          << info.code << ": " << text;
      EXPECT_EQ(text.find("  "), std::string_view::npos) << info.code << ": " << text;
      EXPECT_EQ(std::count(text.begin(), text.end(), '`') % 2, 0)
          << info.code << ": a command is not closed: " << text;
    }
    EXPECT_LE(info.title.size(), 90u) << info.code;
    for (const std::string_view text : {info.means, info.shows, info.confirm, info.fix}) {
      EXPECT_TRUE(text.back() == '.' || text.back() == '?') << info.code << ": " << text;
      EXPECT_LE(text.size(), 400u) << info.code << " is too long for a night: " << text;
    }
  }
}

TEST(Cause, OnlyFaultsOfANodeTakeItOutOfService) {
  std::set<std::string_view> isolating;
  for (const CauseInfo& info : cause_catalogue()) {
    if (!info.isolates_node) continue;
    isolating.insert(info.code);
    EXPECT_EQ(info.recovery, RecoveryLevel::kNode) << info.code;
    EXPECT_TRUE(info.fault_domain == FaultDomain::kHost || info.fault_domain == FaultDomain::kGpu ||
                info.fault_domain == FaultDomain::kFabric)
        << info.code;
  }
  EXPECT_EQ(isolating,
            (std::set<std::string_view>{"driver_library_mismatch", "fabric_manager", "gpu_fallen_off_bus",
                                        "gpu_xid", "hca_fault", "node_unreachable", "nvlink_fault",
                                        "p2p_blocked_by_iommu_or_acs", "p2p_corruption"}));
}

TEST(Cause, AWorkaroundIsCalledOne) {
  // Settings that switch a fast path off restore service at a price: wherever a fix names one, it must say so
  // first.
  for (const CauseInfo& info : cause_catalogue()) {
    for (const std::string_view setting :
         {"NCCL_P2P_DISABLE=1", "NCCL_SHM_DISABLE=1", "NCCL_NVLS_ENABLE=0", "NCCL_NET_GDR_LEVEL=LOC",
          "NCCL_NET_PLUGIN=none", "NCCL_IB_TIMEOUT"}) {
      const std::size_t at = info.fix.find(setting);
      if (at == std::string_view::npos) continue;
      EXPECT_LT(info.fix.find("Workaround"), at) << info.code << " names " << setting;
    }
  }
}

TEST(Cause, UnknownCodesAreNotFound) {
  EXPECT_EQ(find_cause(""), nullptr);
  EXPECT_EQ(find_cause("rank_not_entere"), nullptr);
  EXPECT_EQ(find_cause("Rank_Not_Entered"), nullptr);
}

}  // namespace
}  // namespace unhang::model
