// SPDX-License-Identifier: Apache-2.0
//
// RDMA errors that NCCL reports: a queue pair that cannot be connected (addresses, routes, rails), and
// completions in error. Status 5 (flush) is a consequence of an error before it, and never the root.
#include <algorithm>

#include "detect/detector.h"
#include "detect/log_finding.h"
#include "detect/network_endpoints.h"

namespace unhang::detect {
namespace {

using model::Category;
using model::Confidence;
using model::LogEvent;
using model::LogEventKind;

// enum ibv_wc_status of libibverbs.
constexpr std::int64_t kLocalLength = 1, kLocalQp = 2, kLocalProtection = 4, kFlush = 5, kRemoteInvalid = 9,
                       kRemoteAccess = 10, kRemoteOperation = 11, kRetryExceeded = 12, kReceiverNotReady = 13;

void name_ends(const LogAnalysis& logs, const EventRefs& events, Explanation& found) {
  const NetworkEndpoints ends = judge_endpoints(logs, events);
  name_endpoints(ends, found);
  if (ends.shape == EndpointShape::kSides || ends.shape == EndpointShape::kSpread)
    found.headline += "; " + ends.why;
}

EventRefs with_status(const LogAnalysis& logs, std::initializer_list<std::int64_t> status) {
  EventRefs out;
  for (const LogEvent* event : logs.of(LogEventKind::kCompletionError)) {
    if (std::find(status.begin(), status.end(), event->code) != status.end()) out.push_back(event);
  }
  return out;
}

void add_queue_pairs(const LogAnalysis& logs, std::vector<Explanation>& out) {
  const EventRefs& events = logs.of(LogEventKind::kQueuePairFailed);
  if (events.empty()) return;
  const std::int64_t error = events.front()->code;
  const char* meaning = error == 110   ? ": no answer to address resolution (route, rail or firewall)"
                        : error == 101 ? ": no route for the chosen GID"
                        : error == 113 ? ": the peer's host is not reachable"
                        : error == 22  ? ": the GID index does not fit this port"
                                       : "";
  Explanation found = log_finding(logs, init_or_transport(logs), "gid_or_route", Confidence::kMedium,
                                  "an RDMA connection" + between_text(logs, events) + " cannot be made" +
                                      meaning + ": check GID index and routes",
                                  events);
  name_ends(logs, events, found);
  out.push_back(std::move(found));
}

void add_completions(const LogAnalysis& logs, std::vector<Explanation>& out) {
  const EventRefs memory = with_status(
      logs, {kLocalProtection, kRemoteAccess, kRemoteOperation, kLocalLength, kLocalQp, kRemoteInvalid});
  if (!memory.empty()) {
    Explanation found = log_finding(
        logs, Category::kTransportStall, "gdr_broken", Confidence::kMedium,
        "RDMA may not touch the memory it was given (status " + std::to_string(memory.front()->code) +
            "): GPUDirect RDMA is broken by ACS, IOMMU or the peer-memory module, or the buffer is gone",
        memory);
    out.push_back(std::move(found));
  }
  const EventRefs not_ready = with_status(logs, {kReceiverNotReady});
  if (!not_ready.empty()) {
    Explanation found = log_finding(
        logs, Category::kTransportStall, "rnr", Confidence::kMedium,
        "the receiver" + between_text(logs, not_ready) + " posts no buffers: its process is stuck or starved",
        not_ready);
    name_ends(logs, not_ready, found);
    out.push_back(std::move(found));
  }
  const EventRefs retries = with_status(logs, {kRetryExceeded});
  if (!retries.empty()) {
    Explanation found =
        log_finding(logs, Category::kTransportStall, "ib_retry_exceeded", Confidence::kMedium,
                    "RDMA" + between_text(logs, retries) +
                        " got no acknowledgement (status 12): the peer, its link, or the route is gone",
                    retries);
    name_ends(logs, retries, found);
    found.alternatives.push_back(
        {.category = Category::kProcessOrDeviceUnavailable,
         .cause = "process_exited",
         .speaks_for = {"a peer whose process died looks the same"},
         .speaks_against = {},
         .decide_by = "is the process of the peer alive; what does its own log say"});
    out.push_back(std::move(found));
  }
  const EventRefs flushed = with_status(logs, {kFlush});
  const EventRefs& all = logs.of(LogEventKind::kCompletionError);
  if (!all.empty() && memory.empty() && not_ready.empty() && retries.empty()) {
    Explanation found = log_finding(
        logs, Category::kTransportStall, "unknown", Confidence::kLow,
        flushed.size() == all.size()
            ? "only flushed work requests (status 5) are in the log: they follow an error that is not in it"
            : "RDMA work failed" + between_text(logs, all) + " with status " +
                  std::to_string(all.front()->code),
        all);
    found.tentative = flushed.size() == all.size();
    out.push_back(std::move(found));
  }
}

}  // namespace

std::vector<Explanation> find_log_rdma(const Analysis& analysis) {
  std::vector<Explanation> out;
  if (!analysis.logs.present()) return out;
  add_queue_pairs(analysis.logs, out);
  add_completions(analysis.logs, out);
  return out;
}

}  // namespace unhang::detect
