// SPDX-License-Identifier: Apache-2.0
//
// A CUDA call that failed, where no other detector knows what its error means: inside NCCL it breaks the
// communicator, elsewhere the process.
#include "detect/detector.h"
#include "detect/log_finding.h"
#include "detect/nccl_source.h"

namespace unhang::detect {

using model::Category;
using model::Confidence;
using model::LogEvent;
using model::LogEventKind;

std::vector<Explanation> find_log_cuda_error(const Analysis& analysis) {
  const LogAnalysis& logs = analysis.logs;
  const EventRefs& events = logs.of(LogEventKind::kCudaError);
  if (!logs.present() || events.empty()) return {};
  const LogEvent& first = *events.front();
  const bool in_nccl = is_nccl_source(first.subject);
  // Errors of setting up, whoever makes the call: argument, device, peer access and mapping, permission.
  const bool in_setup = first.code == 1 || first.code == 101 || first.code == 217 || first.code == 711 ||
                        first.code == 800 || first.code == 801;
  const std::string who = writer_text(logs, first.origin);
  std::string what = first.detail;
  if (first.code > 0)
    what += (what.empty() ? "error " : " (") + std::to_string(first.code) + (first.detail.empty() ? "" : ")");
  Explanation found =
      log_finding(logs, in_nccl || in_setup ? init_or_transport(logs) : Category::kProcessOrDeviceUnavailable,
                  in_nccl || in_setup ? "unknown" : "process_exited", Confidence::kLow,
                  (in_nccl ? "a CUDA call of NCCL failed" : "a CUDA call failed") +
                      (who.empty() ? std::string() : " in " + who) + ": " + what,
                  events);
  found.state = model::State::kDead;
  found.tentative = true;
  return {std::move(found)};
}

}  // namespace unhang::detect
