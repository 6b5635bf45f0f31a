// SPDX-License-Identifier: Apache-2.0
#include "collect/ras_client.h"

#include <algorithm>
#include <thread>

#include <fmt/format.h>

#include "base/parallel.h"
#include "collect/ras_lanes.h"

namespace unhang::collect {
namespace {

constexpr std::chrono::seconds kLongestLookup(5);
constexpr std::chrono::seconds kListenersHold(30);
constexpr unsigned kLookupThreads = 16;

// How strict the release must be treated; of several behind one port the strictest holds.
int strictness(const std::optional<NcclRelease>& release) {
  return static_cast<int>(ras_safety(release).permission);
}

void take_strictest_release(RasClient::Target& target) {
  for (const RasListener& listener : target.listeners) {
    if (!listener.release) continue;
    if (target.release && strictness(listener.release) <= strictness(target.release)) continue;
    target.release = listener.release;
    target.release_source = fmt::format("{} of process {}", listener.library, listener.pid);
  }
}

}  // namespace

bool RasPoll::any_report() const {
  return std::any_of(replies.begin(), replies.end(),
                     [](const RasReply& reply) { return !reply.bytes.empty(); });
}

RasClient::RasClient(std::vector<net::HostPort> addresses, RasClientOptions options)
    : x_options(std::move(options)) {
  for (net::HostPort& asked : addresses) {
    Target target;
    target.asked = std::move(asked);
    target.release = x_options.release;
    if (target.release) target.release_source = "as given";
    x_targets.push_back(std::move(target));
  }
}

RasClient::~RasClient() = default;

void RasClient::look_around(const net::Deadline& deadline) {
  const net::Deadline sooner = deadline.or_sooner(kLongestLookup);
  std::vector<Target*> unresolved;  // none, from the second poll on: then no thread is made
  for (Target& target : x_targets) {
    if (target.addresses.empty()) unresolved.push_back(&target);
  }
  const auto threads = static_cast<unsigned>(std::min<std::size_t>(unresolved.size(), kLookupThreads));
  base::parallel_for(unresolved.size(), threads, [&](std::size_t i) {
    Target& target = *unresolved[i];
    auto found = net::resolve(target.asked, sooner);
    target.resolve_trouble = found ? "" : found.error().message;
    if (found) target.addresses = std::move(*found);
  });
  if (x_options.proc_root.empty()) return;
  look_at_listeners(sooner);
}

void RasClient::look_at_listeners(const net::Deadline& deadline) {
  // The kernel's table has every connection of the machine: not read at each poll of a job that answers.
  if (x_next_look && !x_next_look->passed()) return;
  x_next_look = net::Deadline::in(kListenersHold, x_options.now);
  const std::vector<ListeningSocket> listening = listening_table(x_options.proc_root);
  std::vector<Target*> changed;
  std::set<std::string> sockets;
  for (Target& target : x_targets) {
    auto behind = sockets_behind(target.addresses, listening);
    if (behind == target.sockets) continue;
    sockets.insert(behind.begin(), behind.end());
    target.sockets = std::move(behind);
    changed.push_back(&target);
  }
  if (changed.empty()) return;
  auto listeners = find_listeners(sockets, x_options.proc_root);
  if (!x_options.release) listeners = find_releases(std::move(listeners), x_options.proc_root, deadline);
  for (Target* target : changed) {
    target->listeners.clear();
    for (const RasListener& listener : listeners) {
      if (target->sockets.count(listener.socket) > 0) target->listeners.push_back(listener);
    }
    if (x_options.release) continue;
    target->release.reset();  // other processes, perhaps another job
    take_strictest_release(*target);
  }
}

std::string RasClient::refusal(const Target& target) const {
  if (x_options.force || !target.release) return "";
  if (!has_ras(*target.release)) return fmt::format("NCCL {} has no RAS", target.release->text());
  const RasSafety safety = ras_safety(target.release);
  return safety.permission == RasPermission::kNone ? safety.reason : "";
}

RasPoll RasClient::poll(int wake_fd) {
  const net::Deadline deadline = net::Deadline::in(x_options.timeout, x_options.now);
  look_around(deadline);
  RasLanes lanes(x_options, deadline);
  for (Target& target : x_targets) {
    if (const std::string why = refusal(target); !why.empty()) {
      lanes.refuse(target, fmt::format("not asked: {} ({})", why, target.release_source));
    } else {
      lanes.add(target);
    }
  }
  RasPoll result = lanes.run(wake_fd);
  const bool all_well = std::all_of(result.replies.begin(), result.replies.end(),
                                    [](const RasReply& reply) { return reply.trouble.empty(); });
  if (!all_well) x_next_look.reset();  // other processes may listen there now
  return result;
}

}  // namespace unhang::collect
