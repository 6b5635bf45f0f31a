// SPDX-License-Identifier: Apache-2.0
#include "detect/network_endpoints.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "model/host_aliases.h"

namespace unhang::detect {
namespace {

using model::LogEvent;
using model::LogEventKind;

constexpr std::size_t kNearlyAllOf10 = 7;
// Fewer may be those whose logs happen to be here.
constexpr std::size_t kWitnesses = 3;

// Everybody's own, or nobody's.
bool is_anybodys(std::string_view address) {
  return address.empty() || address.starts_with("127.") || address == "::1" || address == "localhost" ||
         address.starts_with("172.17.") || address.starts_with("192.168.122.") ||
         address.starts_with("fe80:");
}

// Which host has which address.
class Addresses {
 public:
  explicit Addresses(const LogAnalysis& logs) : x_names(logs.joined->hosts) {
    std::map<std::string, std::set<std::string>> claims;
    for (const LogEvent* event : logs.of(LogEventKind::kInterfaceChosen)) {
      const std::string& host = logs.origin(event->origin).host;
      if (!host.empty()) claims[bare(event->peer)].insert(std::string(x_names.name_for(host)));
    }
    // NCCL prints both ends of a failed transfer: "localGid ::ffff:10.0.0.7 remoteGids ::ffff:10.0.0.9".
    for (const LogEvent* event : logs.of(LogEventKind::kCompletionError)) {
      const std::string& host = logs.origin(event->origin).host;
      const std::string own = host.empty() ? std::string() : own_address(event->text);
      if (!own.empty()) claims[own].insert(std::string(x_names.name_for(host)));
    }
    for (auto& [address, hosts] : claims) {
      if (hosts.size() == 1 && !is_anybodys(address)) x_hosts[address] = *hosts.begin();
    }
  }

  std::string host_of(const std::string& name) const {
    const std::string address = bare(name);
    const auto known = x_hosts.find(address);
    return known != x_hosts.end() ? known->second : std::string(x_names.name_for(address));
  }

 private:
  // "10.0.0.9" of "10.0.0.9<4000>", "[10.0.0.9]" and "::ffff:10.0.0.9"
  static std::string bare(const std::string& peer) {
    std::string out = peer.substr(0, peer.find('<'));
    if (out.size() > 2 && out.front() == '[' && out.find(']') != std::string::npos)
      out = out.substr(1, out.find(']') - 1);
    constexpr std::string_view kMapped = "::ffff:";
    if (out.starts_with(kMapped)) out = out.substr(kMapped.size());
    return out;
  }

  // Empty: the line does not tell it.
  static std::string own_address(std::string_view text) {
    constexpr std::string_view kWord = "localGid ";
    const std::size_t at = text.find(kWord);
    if (at == std::string_view::npos) return {};
    text.remove_prefix(at + kWord.size());
    // A line that was cut inside the address tells another one.
    const std::size_t end = text.find(' ');
    return end == std::string_view::npos ? std::string() : bare(std::string(text.substr(0, end)));
  }

  model::HostAliases x_names;
  std::map<std::string, std::string> x_hosts;
};

// A writer without a host is an end of its own that has no name.
std::string reporter_of(const LogAnalysis& logs, const LogEvent& event, const Addresses& addresses) {
  const model::LogOrigin& origin = logs.origin(event.origin);
  if (!origin.host.empty()) return addresses.host_of(origin.host);
  return '\n' + writer_text(logs, event.origin);
}

bool is_named(const std::string& end) {
  return !end.empty() && end.front() != '\n' && !is_anybodys(end);
}

using Pair = std::pair<std::string, std::string>;

struct Graph {
  std::set<Pair> edges;                               // the smaller name first
  std::set<Pair> reports;                             // who complains, of whom
  std::map<std::string, std::set<std::string>> next;  // neighbours
  std::map<std::string, std::set<std::string>> adapters;
  std::set<std::string> reporters, peers;  // also where the other end is not known
};

Graph graph_of(const LogAnalysis& logs, const EventRefs& events) {
  const Addresses addresses(logs);
  Graph out;
  for (const LogEvent* event : events) {
    const std::string from = reporter_of(logs, *event, addresses);
    const std::string to = event->peer.empty() ? std::string() : addresses.host_of(event->peer);
    if (is_named(from)) out.reporters.insert(from);
    if (!event->subject.empty()) out.adapters[from].insert(event->subject);
    if (!is_named(to) || from == to) continue;
    out.peers.insert(to);
    out.reports.insert({from, to});
    out.edges.insert(from < to ? Pair(from, to) : Pair(to, from));
    out.next[from].insert(to);
    out.next[to].insert(from);
  }
  return out;
}

std::string count_text(std::size_t count, const char* one, const char* many) {
  return std::to_string(count) + (count == 1 ? one : many);
}

// The end that most edges share; of two that share as many there is none.
const std::string* common_end(const Graph& graph) {
  const std::string* best = nullptr;
  std::size_t most = 0;
  bool tie = false;
  for (const auto& [end, neighbours] : graph.next) {
    tie = neighbours.size() == most ? true : neighbours.size() > most ? false : tie;
    if (neighbours.size() <= most) continue;
    most = neighbours.size();
    best = &end;
  }
  const bool nearly_all = most * 10 >= graph.edges.size() * kNearlyAllOf10;
  return !tie && most >= 2 && nearly_all && is_named(*best) ? best : nullptr;
}

void judge_host(const Graph& graph, const std::string& host, NetworkEndpoints& out) {
  out.shape = EndpointShape::kHost;
  out.hosts = {host};
  out.at_host = graph.next.at(host).size();
  const auto witnesses = static_cast<std::size_t>(std::count_if(
      graph.reports.begin(), graph.reports.end(), [&](const Pair& report) { return report.second == host; }));
  out.witnessed = witnesses >= kWitnesses;
  const auto own = graph.adapters.find(host);
  if (own != graph.adapters.end() && own->second.size() == 1) out.adapter = *own->second.begin();
  out.why = std::to_string(out.at_host) + " of " + count_text(out.edges, " pair", " pairs") +
            " with errors have it at one end, " +
            (witnesses == 0 ? "all reported by itself"
                            : count_text(witnesses, " other reports them", " others report them"));
}

// Two colours for the hosts so that each edge joins both; false: there are none.
bool split(const Graph& graph, std::map<std::string, bool>& side) {
  for (const auto& [start, unused] : graph.next) {
    if (!side.empty() && side.count(start) == 0) return false;  // not one whole
    if (!side.empty()) continue;
    side[start] = false;
    std::vector<std::string> open{start};
    while (!open.empty()) {
      const std::string end = std::move(open.back());
      open.pop_back();
      for (const std::string& neighbour : graph.next.at(end)) {
        const auto [at, is_new] = side.emplace(neighbour, !side.at(end));
        if (is_new) {
          open.push_back(neighbour);
        } else if (at->second == side.at(end)) {
          return false;
        }
      }
    }
  }
  return true;
}

bool judge_sides(const Graph& graph, NetworkEndpoints& out) {
  std::map<std::string, bool> side;
  if (!split(graph, side)) return false;
  std::vector<std::string> hosts;
  std::vector<std::string> others;
  for (const auto& [end, is_other] : side) {
    if (!is_named(end)) return false;
    (is_other ? others : hosts).push_back(end);
  }
  // Two chains of single errors are no cut: most pairs across it have to fail.
  if (hosts.size() < 2 || others.size() < 2 ||
      graph.edges.size() * 10 < hosts.size() * others.size() * kNearlyAllOf10)
    return false;
  out.shape = EndpointShape::kSides;
  out.hosts = std::move(hosts);
  out.others = std::move(others);
  out.why = count_text(out.edges, " pair", " pairs") + " with errors, all of them between " +
            listed(out.hosts) + " on one side and " + listed(out.others) +
            " on the other, none inside: what joins the two sides (a leaf switch, an uplink)";
  return true;
}

}  // namespace

NetworkEndpoints judge_endpoints(const LogAnalysis& logs, const EventRefs& events) {
  NetworkEndpoints out;
  const Graph graph = graph_of(logs, events);
  out.edges = graph.edges.size();
  if (graph.edges.empty()) {
    if (graph.reporters.size() != 1) return out;
    out.shape = EndpointShape::kHost;
    out.hosts = {*graph.reporters.begin()};
    out.why = "every error is reported by it";
    return out;
  }
  if (graph.edges.size() == 1) {
    const Pair& report = *graph.reports.begin();
    const bool both = graph.reports.size() == 2;
    out.hosts = {report.second};
    if (is_named(report.first)) out.hosts.push_back(report.first);
    out.shape = out.hosts.size() == 2 ? EndpointShape::kPair : EndpointShape::kHost;
    out.at_host = 1;
    out.why = out.hosts.size() == 2
                  ? std::string("all errors are between ") + out.hosts[0] + " and " + out.hosts[1] +
                        (both ? ", and both report them" : "") + ": the path between them, or either end"
                  : "every error is towards it";
    return out;
  }
  if (const std::string* host = common_end(graph)) {
    judge_host(graph, *host, out);
  } else if (!judge_sides(graph, out)) {
    out.shape = EndpointShape::kSpread;
    out.why = count_text(out.edges, " pair", " pairs") + " with errors and no host that is common to them";
  }
  return out;
}

void name_endpoints(const NetworkEndpoints& ends, Explanation& found) {
  if (ends.shape != EndpointShape::kHost && ends.shape != EndpointShape::kPair) return;
  for (const std::string& host : ends.hosts) {
    model::Subject subject = host_subject(host, ends.why);
    if (!ends.witnessed) {
      found.other_suspects.push_back(std::move(subject));
      continue;
    }
    if (!ends.adapter.empty()) subject.nic = ends.adapter;
    found.other_culprits.push_back(std::move(subject));
  }
}

std::string between_text(const LogAnalysis& logs, const EventRefs& events) {
  const Graph graph = graph_of(logs, events);
  std::string out;
  if (!graph.reporters.empty()) out += " of " + listed({graph.reporters.begin(), graph.reporters.end()});
  if (!graph.peers.empty()) out += " towards " + listed({graph.peers.begin(), graph.peers.end()});
  return out;
}

}  // namespace unhang::detect
