// SPDX-License-Identifier: Apache-2.0
//
// Sockets that cannot be connected: a firewall, no route, nobody listening, or an address that means another
// machine to the one who uses it (loopback, a container bridge).
#include <cerrno>

#include "detect/detector.h"
#include "detect/log_finding.h"
#include "detect/network_endpoints.h"

namespace unhang::detect {
namespace {

using model::Category;
using model::Confidence;
using model::LogEvent;
using model::LogEventKind;

// Addresses that exist on every host alike: 127/8, ::1, and the default bridges of docker and libvirt.
bool is_local_only(const std::string& text) {
  return text.starts_with("127.") || text.starts_with("::1") || text.starts_with("[::1]") ||
         text.starts_with("172.17.") || text.starts_with("192.168.122.") || text.starts_with("localhost") ||
         text == "lo" || text.starts_with("lo:") || text.starts_with("docker") || text.starts_with("virbr");
}

const char* words_for(std::int64_t error) {
  switch (error) {
    case ECONNREFUSED:
      return "nobody listens there (the peer is not up, or the address is wrong)";
    case EHOSTUNREACH:
      return "no route to it (firewall or wrong interface)";
    case ENETUNREACH:
      return "the network is not reachable from that interface";
    case ETIMEDOUT:
      return "no answer (a firewall that drops, or a host that is gone)";
    case ECONNABORTED:
      return "the connection was aborted (a firewall, most often)";
    default:
      return "the connection failed";
  }
}

}  // namespace

std::vector<Explanation> find_log_network_path(const Analysis& analysis) {
  const LogAnalysis& logs = analysis.logs;
  if (!logs.present()) return {};
  EventRefs events = logs.of(LogEventKind::kConnectFailed);
  const bool only_retries = events.empty();
  if (only_retries) events = logs.of(LogEventKind::kConnectRetry);
  if (events.empty()) return {};
  // A connection that is retried and then stands is ordinary.
  if (only_retries && logs.past_init) return {};
  const LogEvent& first = *events.front();
  EventRefs local;
  for (const LogEvent* event : events) {
    if (is_local_only(event->peer)) local.push_back(event);
  }
  EventRefs chosen;
  for (const LogEvent* event : logs.of(LogEventKind::kInterfaceChosen)) {
    if (is_local_only(event->peer) || is_local_only(event->subject)) chosen.push_back(event);
  }
  const bool mixed_up = !local.empty() || (!chosen.empty() && first.code == ECONNREFUSED);
  if (mixed_up) {
    EventRefs all = local.empty() ? events : local;
    all.insert(all.end(), chosen.begin(), chosen.end());
    return {log_finding(logs, Category::kInitializationHang, "interface_mismatch",
                        local.empty() ? Confidence::kLow : Confidence::kMedium,
                        "an address that means every host itself (loopback or a container bridge) was chosen "
                        "to reach others: set NCCL_SOCKET_IFNAME",
                        all)};
  }
  Explanation found = log_finding(
      logs,
      logs.past_init && !logs.timeouts.empty() ? Category::kTransportStall : Category::kInitializationHang,
      logs.past_init ? "peer_unreachable" : "bootstrap_unreachable",
      only_retries ? Confidence::kLow : Confidence::kMedium,
      (first.peer.empty() ? std::string("a peer") : first.peer) + " cannot be reached" +
          (writer_text(logs, first.origin).empty() ? "" : " from " + writer_text(logs, first.origin)) + ": " +
          words_for(first.code),
      events);
  const NetworkEndpoints ends = judge_endpoints(logs, events);
  if (ends.shape == EndpointShape::kPair) {
    // Nobody answers: of the two it is the one that is asked, as far as one pair can tell.
    found.other_suspects.push_back(host_subject(ends.hosts.front(), "every failed connection is towards it"));
  } else {
    name_endpoints(ends, found);
    if (ends.shape == EndpointShape::kSides) found.headline += "; " + ends.why;
  }
  return {std::move(found)};
}

}  // namespace unhang::detect
