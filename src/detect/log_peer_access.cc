// SPDX-License-Identifier: Apache-2.0
//
// Direct access between GPUs that does not work although it is offered: an IOMMU or ACS redirects it. No
// error line tells of it; the signs are the configuration and a hang right after all communicators are
// complete.
#include <algorithm>

#include "detect/detector.h"
#include "detect/log_finding.h"

namespace unhang::detect {
namespace {

using model::Category;
using model::Confidence;
using model::LogEvent;
using model::LogEventKind;

// GPU pairs that only meet at a host bridge or beyond: PHB, NODE, SYS.
bool meets_at_the_host(const model::Log& log) {
  for (const model::TopologyTable& table : log.topologies) {
    for (std::size_t row = 0; row < table.cells.size() && row < table.row_names.size(); ++row) {
      if (!table.row_names[row].starts_with("GPU")) continue;
      for (std::size_t column = 0; column < table.cells[row].size() && column < table.names.size();
           ++column) {
        const std::string& cell = table.cells[row][column];
        if (table.names[column].starts_with("GPU") && (cell == "PHB" || cell == "NODE" || cell == "SYS"))
          return true;
      }
    }
  }
  return false;
}

bool uses_peer_access(const model::Log& log) {
  return std::any_of(log.communicators.begin(), log.communicators.end(),
                     [](const auto& communicator) { return communicator.p2p_channels > 0; });
}

bool one_host(const model::Log& log) {
  return std::all_of(log.communicators.begin(), log.communicators.end(), [&](const auto& communicator) {
    return log.origins[communicator.origin].host == log.origins[log.communicators.front().origin].host;
  });
}

// Everything was made, nothing failed, and nothing more came.
bool silent_after_init(const LogAnalysis& logs) {
  const model::Log& log = logs.joined->logs;
  if (log.communicators.empty() || logs.init_open) return false;
  const bool all_complete =
      std::all_of(log.communicators.begin(), log.communicators.end(),
                  [](const auto& c) { return c.completed && c.phase <= model::CommunicatorPhase::kInUse; });
  return all_complete && log.bandwidth_runs.empty() && !logs.has(LogEventKind::kTrainingStep) &&
         !logs.has(LogEventKind::kRequestProgress) && !logs.has(LogEventKind::kEngineReady) &&
         !logs.has(LogEventKind::kTrainingEnd);
}

}  // namespace

std::vector<Explanation> find_log_peer_access(const Analysis& analysis) {
  const LogAnalysis& logs = analysis.logs;
  std::vector<Explanation> out;
  if (!logs.present()) return out;
  const model::Log& log = logs.joined->logs;
  constexpr const char* kCause = "p2p_blocked_by_iommu_or_acs";
  const EventRefs& faults = logs.of(LogEventKind::kIommuFault);
  if (!faults.empty()) {
    out.push_back(log_finding(logs, Category::kTransportStall, kCause, Confidence::kMedium,
                              "the IOMMU refuses accesses of a device (" + faults.front()->subject +
                                  "): direct transfers between GPUs or adapters are blocked",
                              faults));
    return out;
  }
  EventRefs signs = logs.of_all({LogEventKind::kAcsEnabled, LogEventKind::kIommuEnabled});
  const EventRefs& hints = logs.of(LogEventKind::kMismatchHint);
  const EventRefs& missing = logs.of(LogEventKind::kPeerAccessMissing);
  const bool silence = silent_after_init(logs);
  const bool shape = meets_at_the_host(log) || !missing.empty();
  const bool configured = logs.has(LogEventKind::kAcsEnabled) && !logs.has(LogEventKind::kTrainingStep) &&
                          !logs.has(LogEventKind::kRequestProgress);
  const bool stands = silence || logs.somebody_waited;
  if (configured || (!signs.empty() && stands) || (shape && stands) ||
      (silence && uses_peer_access(log) && one_host(log) && logs.joined->logs.communicators.size() > 1)) {
    signs.insert(signs.end(), missing.begin(), missing.end());
    signs.insert(signs.end(), hints.begin(), hints.end());
    Explanation found = log_finding(
        logs, Category::kTransportStall, kCause, Confidence::kLow,
        configured
            ? "ACS redirects transfers between devices through the root: direct access between GPUs or "
              "adapters hangs or fails there"
        : !signs.empty() || shape
            ? std::string("GPUs reach each other through the host bridge only, and nothing moved after the "
                          "start: direct access between them is suspect")
            : std::string("all communicators were complete and then nothing more came: direct access between "
                          "GPUs that does not work looks like this"),
        signs);
    found.tentative = true;
    found.phase = model::Phase::kFirstCollective;
    found.alternatives.push_back(
        {.category = Category::kNotCommunication,
         .cause = "after_init",
         .speaks_for = {"weights, compilation or the program may be what takes so long"},
         .speaks_against = {},
         .decide_by = "the same command with NCCL_P2P_DISABLE=1: if it runs then, it is P2P"});
    out.push_back(std::move(found));
  }
  if (out.empty() && !hints.empty()) {
    Explanation found = log_finding(logs, Category::kInconclusive, "unknown", Confidence::kLow,
                                    "old NCCL suspects a collective mismatch; that hint is wrong as often as "
                                    "right (IOMMU, ACS, a dead peer)",
                                    hints);
    found.tentative = true;
    out.push_back(std::move(found));
  }
  return out;
}

}  // namespace unhang::detect
