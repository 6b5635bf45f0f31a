// SPDX-License-Identifier: Apache-2.0
//
// A job that runs, on a slower path than it could: GPUDirect RDMA off, sockets where hosts have RDMA, no
// topology. Said only where nothing stands still.
#include <set>

#include "detect/detector.h"
#include "detect/log_finding.h"

namespace unhang::detect {
namespace {

using model::Category;
using model::Confidence;
using model::LogEventKind;

bool many_hosts(const LogAnalysis& logs) {
  std::set<std::string> hosts;
  for (const auto& communicator : logs.joined->logs.communicators) {
    if (communicator.nodes > 1) return true;
    const std::string& host = logs.origin(communicator.origin).host;
    if (!host.empty()) hosts.insert(host);
    if (communicator.net_channels > 0 || communicator.socket_channels > 0) return true;
  }
  return hosts.size() > 1;
}

}  // namespace

std::vector<Explanation> find_log_slow_path(const Analysis& analysis) {
  const LogAnalysis& logs = analysis.logs;
  std::vector<Explanation> out;
  if (!logs.present() || logs.somebody_waited) return out;
  const auto add = [&](std::string_view cause, std::string headline, const EventRefs& events) {
    Explanation found = log_finding(logs, Category::kPerformanceDegradation, cause, Confidence::kLow,
                                    std::move(headline), events);
    found.state = model::State::kSlow;
    found.tentative = true;
    out.push_back(std::move(found));
  };
  const EventRefs& direct = logs.of(LogEventKind::kGpuDirectDisabled);
  if (!direct.empty())
    add("gdr_disabled",
        "GPUDirect RDMA is off for " +
            (direct.front()->subject.empty() ? "an adapter" : direct.front()->subject) +
            ": every transfer goes through host memory",
        direct);
  bool sockets = false;
  for (const model::LogEvent* event : logs.of(LogEventKind::kNetworkChosen))
    sockets = sockets || event->subject == "Socket";
  const EventRefs& none = logs.of(LogEventKind::kNoHca);
  if (sockets && many_hosts(logs))
    add("fell_back_to_socket",
        "NCCL goes over TCP sockets between hosts" +
            std::string(none.empty() ? "" : ": it found no RDMA adapter in the container or on the host"),
        none.empty() ? logs.of(LogEventKind::kNetworkChosen) : none);
  const EventRefs& throttled = logs.of(LogEventKind::kThrottled);
  if (!throttled.empty())
    add("gpu_throttled", "a GPU holds back its clocks: " + throttled.front()->text, throttled);
  bool no_topology = logs.has(LogEventKind::kSysfsMissing);
  for (const model::TopologyTable& table : logs.joined->logs.topologies)
    no_topology = no_topology || table.failed;
  if (no_topology)
    add("topology_drift", "the topology of the machine is not visible here: NCCL chooses paths blindly",
        logs.of(LogEventKind::kSysfsMissing));
  return out;
}

}  // namespace unhang::detect
