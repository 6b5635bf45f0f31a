// SPDX-License-Identifier: Apache-2.0
//
// A connection that the other side ended. Of the own host it is a proxy thread that failed before; of another
// host its process died, and the log of that host says why.
#include <algorithm>
#include <set>

#include "detect/detector.h"
#include "detect/log_finding.h"
#include "detect/network_endpoints.h"

namespace unhang::detect {

using model::Category;
using model::Confidence;
using model::LogEvent;
using model::LogEventKind;

std::vector<Explanation> find_log_peer_lost(const Analysis& analysis) {
  const LogAnalysis& logs = analysis.logs;
  if (!logs.present()) return {};
  EventRefs events;
  std::set<std::string> peers;
  for (const LogEvent* event : logs.of_all({LogEventKind::kConnectionClosed, LogEventKind::kConnectionReset,
                                            LogEventKind::kGlooClosed, LogEventKind::kPeerError,
                                            LogEventKind::kRasPeerDead, LogEventKind::kStoreClosed})) {
    const std::string peer = peer_host(*event);
    const std::string& own = logs.origin(event->origin).host;
    if (!peer.empty() && (peer == own || peer == "localhost" || peer.starts_with("127."))) continue;
    events.push_back(event);
    if (!peer.empty() && event->kind != LogEventKind::kStoreClosed) peers.insert(peer);
  }
  if (events.empty()) return {};
  // At the end of a program every connection is closed by somebody first.
  const bool at_the_end = logs.has(LogEventKind::kTrainingEnd) && logs.timeouts.empty();
  const bool only_store = std::all_of(events.begin(), events.end(), [](const LogEvent* event) {
    return event->kind == LogEventKind::kStoreClosed;
  });
  if (at_the_end || (only_store && !logs.timeouts.empty())) return {};
  Explanation found =
      log_finding(logs, Category::kProcessOrDeviceUnavailable, "process_exited", Confidence::kLow,
                  (peers.empty() ? std::string("another rank")
                                 : "the process at " + listed({peers.begin(), peers.end()})) +
                      " closed its connections: it died first, and its own log says why",
                  events);
  found.tentative = true;
  const NetworkEndpoints ends = judge_endpoints(logs, events);
  if (peers.size() == 1) {
    found.other_suspects.push_back(host_subject(*peers.begin(), "the connection was closed from there"));
  } else if (ends.shape == EndpointShape::kHost && ends.witnessed) {
    // Who died is asked of its own log: nothing more than where to look.
    found.other_suspects.push_back(host_subject(ends.hosts.front(), ends.why));
  }
  return {std::move(found)};
}

}  // namespace unhang::detect
