// SPDX-License-Identifier: Apache-2.0
//
// A rank ran out of GPU memory: what follows on the network and on the other ranks is only its shadow.
#include <algorithm>
#include <set>

#include "detect/detector.h"
#include "detect/log_finding.h"
#include "detect/nccl_source.h"

namespace unhang::detect {

using model::Category;
using model::Confidence;
using model::LogEvent;
using model::LogEventKind;

std::vector<Explanation> find_log_gpu_memory(const Analysis& analysis) {
  const LogAnalysis& logs = analysis.logs;
  const EventRefs& events = logs.of(LogEventKind::kCudaOutOfMemory);
  if (!logs.present() || events.empty()) return {};
  // In NCCL's own allocations it breaks the making of a communicator; in the program's it ends the program.
  const bool in_nccl = std::any_of(events.begin(), events.end(),
                                   [](const LogEvent* event) { return is_nccl_source(event->subject); });
  const LogEvent& first = *events.front();
  std::set<std::int32_t> ranks;
  for (const LogEvent* event : events) {
    const std::int32_t rank = rank_of(logs, *event);
    if (rank >= 0) ranks.insert(rank);
  }
  const bool others_wait = logs.somebody_waited;
  const Category category = others_wait                  ? Category::kProcessOrDeviceUnavailable
                            : in_nccl && !logs.past_init ? Category::kInitializationHang
                                                         : Category::kNotCommunication;
  const std::string who = writer_text(logs, first.origin);
  Explanation found = log_finding(logs, category, "cuda_oom", Confidence::kMedium,
                                  (who.empty() ? std::string("a process") : who) + " ran out of GPU memory" +
                                      (in_nccl ? " inside NCCL" : "") +
                                      (others_wait ? ": the others wait for it"
                                                   : ": a fault of the program's size, not of communication"),
                                  events);
  found.state = model::State::kDead;
  const std::int32_t device = logs.origin(first.origin).cuda_device;
  if (ranks.size() == 1) {
    found.other_culprits.push_back(rank_subject(*ranks.begin()));
    if (device >= 0) found.other_culprits.back().gpu = std::to_string(device);
  } else if (ranks.empty() && device >= 0 && events.size() == 1) {
    found.other_culprits.push_back(gpu_subject(logs, first.origin, std::to_string(device)));
  }
  return {std::move(found)};
}

}  // namespace unhang::detect
