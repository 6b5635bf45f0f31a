// SPDX-License-Identifier: Apache-2.0
//
// The NVSwitch fabric is not set up: the fabric manager (or IMEX, across hosts) does not run, was restarted
// under running GPUs, or reports a switch fault. CUDA says 802 then, and NVLS multicast cannot be bound.
#include "detect/detector.h"
#include "detect/log_finding.h"

namespace unhang::detect {

using model::Category;
using model::Confidence;
using model::LogEvent;
using model::LogEventKind;

std::vector<Explanation> find_log_fabric(const Analysis& analysis) {
  const LogAnalysis& logs = analysis.logs;
  std::vector<Explanation> out;
  if (!logs.present()) return out;
  EventRefs not_ready;
  EventRefs nvlink;
  EventRefs multicast = logs.of(LogEventKind::kNvlsFailed);
  for (const LogEvent* event : logs.of(LogEventKind::kCudaError)) {
    // 802 cudaErrorSystemNotReady; 220 uncorrectable NVLink error; 721 contained error: a peer is gone
    if (event->code == 802) not_ready.push_back(event);
    if (event->code == 220 || event->code == 721 || event->detail.find("NVLink") != std::string::npos ||
        event->detail.find("CONTAINED") != std::string::npos)
      nvlink.push_back(event);
    // NCCL's NVLS transport binds multicast memory there and nothing else.
    if (event->subject.find("nvls") != std::string::npos) multicast.push_back(event);
  }
  const EventRefs manager =
      logs.of_all({LogEventKind::kFabricManagerError, LogEventKind::kFabricManagerMissing});
  if (!not_ready.empty() || !manager.empty()) {
    EventRefs all = not_ready;
    all.insert(all.end(), manager.begin(), manager.end());
    std::string headline =
        not_ready.empty() ? "the fabric manager reports a fault: " + manager.front()->text
                          : "CUDA is not ready on a machine with NVSwitches: the fabric manager does not run "
                            "or has not finished";
    out.push_back(log_finding(logs, init_or_transport(logs), "fabric_manager",
                              not_ready.empty() ? Confidence::kLow : Confidence::kMedium, std::move(headline),
                              all));
    // Alone it may be a machine without switches.
    out.back().tentative = not_ready.empty() && logs.of(LogEventKind::kFabricManagerError).empty();
  }
  if (!nvlink.empty()) {
    Explanation found = log_finding(logs, Category::kTransportStall, "nvlink_fault", Confidence::kMedium,
                                    "a GPU reports that NVLink failed under it (" + nvlink.front()->detail +
                                        "): the GPU that reports it need not be the broken one",
                                    nvlink);
    for (const LogEvent* event : nvlink) {
      if (found.other_suspects.size() < 8 && !writer_text(logs, event->origin).empty())
        found.other_suspects.push_back(writer(logs, event->origin));
    }
    out.push_back(std::move(found));
  }
  if (!multicast.empty()) {
    Explanation found = log_finding(logs, init_or_transport(logs), "nvls_failure", Confidence::kMedium,
                                    "NVLink multicast (NVLS) cannot be set up: the fabric manager, or IMEX "
                                    "between hosts, is not in order",
                                    multicast);
    found.alternatives.push_back(
        {.category = found.category,
         .cause = "fabric_manager",
         .speaks_for = {"it was restarted while GPUs were in use, or does not run: the usual reason"},
         .speaks_against = {},
         .decide_by = "systemctl status nvidia-fabricmanager nvidia-imex; nvidia-smi -q | grep -A6 Fabric; "
                      "NCCL_NVLS_ENABLE=0 as a trial"});
    out.push_back(std::move(found));
  }
  return out;
}

}  // namespace unhang::detect
