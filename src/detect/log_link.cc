// SPDX-License-Identifier: Apache-2.0
//
// A network link or adapter that went down, as NCCL's asynchronous events or the kernel tell. It explains the
// completion errors of the peers: the host with the event is at fault, not the one that complains.
#include <algorithm>
#include <set>

#include "detect/detector.h"
#include "detect/log_finding.h"
#include "detect/network_endpoints.h"

namespace unhang::detect {
namespace {

using model::Category;
using model::Confidence;
using model::LogEvent;
using model::LogEventKind;

bool tells(const std::string& text, std::string_view word) {
  return text.find(word) != std::string::npos;
}

// Of several hosts whose links went down the one that others cannot reach is the one that matters.
void name_by_errors(const LogAnalysis& logs, const std::vector<std::string>& hosts, Explanation& found) {
  const NetworkEndpoints ends =
      judge_endpoints(logs, logs.of_all({LogEventKind::kCompletionError, LogEventKind::kQueuePairFailed,
                                         LogEventKind::kConnectFailed}));
  if (ends.shape == EndpointShape::kHost && ends.witnessed &&
      std::find(hosts.begin(), hosts.end(), ends.hosts.front()) != hosts.end()) {
    name_endpoints(ends, found);
    return;
  }
  for (const std::string& host : hosts) found.other_suspects.push_back(host_subject(host));
}

// Names that somebody writes under: an address that nobody could map, or another spelling ("node48"), may be
// the very host.
bool writes(const LogAnalysis& logs, const std::string& host) {
  const auto& origins = logs.joined->logs.origins;
  return std::any_of(origins.begin(), origins.end(), [&](const auto& origin) { return origin.host == host; });
}

void name_hosts(const LogAnalysis& logs, const EventRefs& events, Explanation& found) {
  const std::vector<std::string> hosts = hosts_of(logs, events);
  std::set<std::string> devices;
  for (const LogEvent* event : events) devices.insert(event->subject);
  if (hosts.size() != 1) {
    name_by_errors(logs, hosts, found);
    return;
  }
  const NetworkEndpoints ends =
      judge_endpoints(logs, logs.of_all({LogEventKind::kCompletionError, LogEventKind::kQueuePairFailed}));
  const bool decided = (ends.shape == EndpointShape::kHost || ends.shape == EndpointShape::kPair) &&
                       std::all_of(ends.hosts.begin(), ends.hosts.end(),
                                   [&](const std::string& host) { return writes(logs, host); });
  if (decided && std::find(ends.hosts.begin(), ends.hosts.end(), hosts.front()) == ends.hosts.end()) {
    // A port that nobody uses, or an old matter: what fails is between others.
    found.tentative = true;
    found.strength = Confidence::kLow;
    found.headline += "; the transfers that failed are between " + listed(ends.hosts);
    found.other_suspects.push_back(host_subject(hosts.front(), events.front()->text));
    return;
  }
  model::Subject subject = host_subject(hosts.front(), events.front()->text);
  if (devices.size() == 1 && !devices.begin()->empty()) {
    subject.kind = model::SubjectKind::kNic;
    subject.nic = *devices.begin();
  }
  found.other_culprits.push_back(std::move(subject));
}

}  // namespace

std::vector<Explanation> find_log_link(const Analysis& analysis) {
  const LogAnalysis& logs = analysis.logs;
  std::vector<Explanation> out;
  if (!logs.present()) return out;
  EventRefs dead = logs.of(LogEventKind::kAdapterFault);
  EventRefs down;
  for (const LogEvent* event : logs.of(LogEventKind::kAdapterEvent)) {
    if (tells(event->detail, "catastrophic") || tells(event->detail, "device fatal") ||
        tells(event->detail, "internal error")) {
      dead.push_back(event);
    } else if (event->code == 1 || tells(event->detail, "port error")) {
      down.push_back(event);
    }
  }
  for (const LogEvent* event : logs.of(LogEventKind::kLinkDown)) down.push_back(event);
  if (!dead.empty()) {
    const std::vector<std::string> hosts = hosts_of(logs, dead);
    Explanation found = log_finding(logs, Category::kTransportStall, "hca_fault", Confidence::kMedium,
                                    "a network adapter" + (hosts.empty() ? "" : " of " + listed(hosts)) +
                                        " failed: " + dead.front()->text,
                                    dead);
    name_hosts(logs, dead, found);
    out.push_back(std::move(found));
  }
  if (!down.empty()) {
    // A port that is down without anybody complaining may be one that nobody uses.
    const bool felt = logs.somebody_waited || logs.has(LogEventKind::kCompletionError) ||
                      logs.has(LogEventKind::kAdapterEvent) || logs.has(LogEventKind::kQueuePairFailed) ||
                      logs.has(LogEventKind::kConnectionReset) || logs.has(LogEventKind::kConnectFailed);
    const std::vector<std::string> hosts = hosts_of(logs, down);
    Explanation found = log_finding(logs, Category::kTransportStall, "link_down",
                                    felt ? Confidence::kMedium : Confidence::kLow,
                                    "a network link" + (hosts.empty() ? "" : " of " + listed(hosts)) +
                                        " went down: " + down.front()->text,
                                    down);
    found.tentative = !felt;
    found.explains_stall = felt || !logs.life.behind(*down.back());
    name_hosts(logs, down, found);
    if (!felt) {
      found.other_suspects.insert(found.other_suspects.end(), found.other_culprits.begin(),
                                  found.other_culprits.end());
      found.other_culprits.clear();
    }
    out.push_back(std::move(found));
  }
  return out;
}

}  // namespace unhang::detect
