// SPDX-License-Identifier: Apache-2.0
//
// The rendezvous store of PyTorch: not reachable, or without the key that a rank was to put there. Then that
// rank, most often 0, died or never came, and NCCL has not even begun.
#include <set>

#include "base/rank_set.h"
#include "detect/detector.h"
#include "detect/log_finding.h"

namespace unhang::detect {

using model::Category;
using model::Confidence;
using model::LogEvent;
using model::LogEventKind;

namespace {

// One attempt that failed is warned of and repeated; the end of all attempts is an error of its own.
bool given_up(const EventRefs& events) {
  for (const LogEvent* event : events) {
    if (event->kind == LogEventKind::kRendezvousFailed || event->count > 2 ||
        event->text.find("timed out") != std::string::npos || event->text.find("rror:") != std::string::npos)
      return true;
  }
  return events.size() > 2;
}

}  // namespace

std::vector<Explanation> find_log_store(const Analysis& analysis) {
  const LogAnalysis& logs = analysis.logs;
  std::vector<Explanation> out;
  if (!logs.present()) return out;
  const EventRefs& keys = logs.of(LogEventKind::kStoreKeyMissing);
  if (!keys.empty()) {
    std::set<std::int64_t> waited_for;
    for (const LogEvent* event : keys) waited_for.insert(event->code);
    const std::string who = waited_for.size() == 1 && *waited_for.begin() >= 0
                                ? "rank " + std::to_string(*waited_for.begin())
                                : std::string("the first rank of the group");
    Explanation found = log_finding(
        logs, Category::kInitializationHang, "rank_never_joined", Confidence::kLow,
        "the others wait for " + who +
            " to begin a communicator: it has died, is busy with something else, or cannot reach the store",
        keys);
    if (waited_for.size() == 1 && *waited_for.begin() >= 0) {
      // One that says so may be wrong about the network; several are right about whom they wait for.
      std::set<std::int32_t> waiting;
      for (const LogEvent* event : keys) waiting.insert(rank_of(logs, *event));
      model::Subject first = rank_subject(static_cast<std::int32_t>(*waited_for.begin()));
      first.why = "puts the id of the communicator into the store, and did not";
      constexpr std::size_t kSeveral = 3;
      (waiting.size() >= kSeveral ? found.other_culprits : found.other_suspects).push_back(std::move(first));
    }
    out.push_back(std::move(found));
  }
  EventRefs unreachable = logs.of_all({LogEventKind::kStoreUnreachable, LogEventKind::kRendezvousFailed});
  if (!unreachable.empty() && logs.timeouts.empty()) {
    const LogEvent& first = *unreachable.front();
    out.push_back(
        log_finding(logs, Category::kInitializationHang, "store_unreachable",
                    logs.past_init || !given_up(unreachable) ? Confidence::kLow : Confidence::kMedium,
                    "the rendezvous store" + (first.peer.empty() ? "" : " at " + first.peer) +
                        " cannot be reached: the rank that holds it is not up, or a name, port or "
                        "firewall is wrong",
                    unreachable));
  }
  EventRefs waits = logs.of_all({LogEventKind::kStoreTimeout, LogEventKind::kMonitoredBarrier});
  if (!waits.empty()) {
    std::set<std::int32_t> missing;
    for (const LogEvent* event : waits) {
      if (event->kind != LogEventKind::kMonitoredBarrier) continue;
      if (const auto ranks = base::parse_ranks(event->detail)) missing.insert(ranks->begin(), ranks->end());
    }
    Explanation found = log_finding(
        logs, logs.past_init ? Category::kCollectiveDesync : Category::kInitializationHang,
        logs.past_init ? "rank_not_entered" : "rank_never_joined",
        missing.empty() ? Confidence::kLow : Confidence::kMedium,
        missing.empty() ? std::string("a rank waited in the store for others that did not come")
                        : (missing.size() == 1 ? "rank " : "ranks ") +
                              base::fold_ranks(std::vector<std::int32_t>(missing.begin(), missing.end())) +
                              " did not come to a barrier",
        waits);
    for (const std::int32_t rank : missing) found.other_culprits.push_back(rank_subject(rank));
    out.push_back(std::move(found));
  }
  const EventRefs gloo = logs.of(LogEventKind::kGlooConnectFailed);
  if (!gloo.empty()) {
    bool loopback = false;
    for (const LogEvent* event : gloo)
      loopback = loopback || event->text.find("127.0.") != std::string::npos ||
                 event->peer.starts_with("127.") || event->text.find("loopback") != std::string::npos;
    out.push_back(log_finding(
        logs, Category::kInitializationHang, loopback ? "interface_mismatch" : "bootstrap_unreachable",
        Confidence::kMedium,
        loopback ? std::string("gloo chose the loopback address to reach other hosts: set GLOO_SOCKET_IFNAME")
                 : std::string("gloo cannot connect all ranks with each other: interface, name or firewall"),
        gloo));
  }
  return out;
}

}  // namespace unhang::detect
