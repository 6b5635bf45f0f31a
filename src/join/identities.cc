// SPDX-License-Identifier: Apache-2.0
#include "join/identities.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "base/rank_set.h"
#include "join/host_names.h"
#include "join/identity_facts.h"
#include "join/process_ranks.h"

namespace unhang::join {
namespace {

using model::Case;
using model::LogEventKind;

class IdentityJoin {
 public:
  IdentityJoin(const BundleFacts& bundles, Case& joined) : x_bundles(bundles), x_case(joined) {}

  void run() {
    name_hosts();
    meet_in_communicators();
    x_names.settle();
    rename_hosts();
    rank_origins();
    complete_ranks();
    x_case.identities = identity_facts(x_case, x_bundles);
    x_case.hosts = x_names.hosts();
    place_ranks();
    say_conflicts();
  }

 private:
  // Visits every host of the Case that has a name.
  template <typename Visit>
  void each_host(const Visit& visit) {
    for (model::Rank& rank : x_case.ranks) visit(rank.host);
    for (model::LogOrigin& origin : x_case.logs.origins) visit(origin.host);
    for (model::RasView& view : x_case.ras.views) {
      for (model::RasCommunicator& communicator : view.communicators) {
        for (model::RasRank& rank : communicator.ranks) visit(rank.host);
      }
      for (model::RasProcess& process : view.lost_processes) visit(process.host);
      for (model::RasProcess& process : view.contradicted) visit(process.host);
    }
    for (model::RasEvidence::Event& event : x_case.ras.events) visit(event.event.host);
    for (model::ProcessReading& reading : x_case.processes) visit(reading.sample.host);
  }

  void name_hosts() {
    std::set<std::string, std::less<>> seen;
    each_host([&](const std::string& host) {
      if (!host.empty()) seen.insert(host);
    });
    for (const std::string& host : seen) x_names.add(host);
    for (const model::LogEvent& event : x_case.logs.events) {
      if (event.kind != LogEventKind::kInterfaceChosen || !is_host_address(event.peer)) continue;
      x_names.same(x_case.logs.origins[event.origin].host, event.peer);
    }
    for (const model::BundleManifest& bundle : x_case.bundles) {
      x_names.add(bundle.host);
      for (const auto& [key, value] : bundle.labels) {
        if (key == "node" || key == "pod" || key == "host") x_names.same(bundle.host, value);
      }
      for (const model::BundleProcess& process : bundle.processes) {
        for (const auto& [variable, value] : process.environment) {
          if (names_machine(variable)) x_names.same(bundle.host, value);
        }
      }
    }
  }

  // A rank of a communicator is the same process to RAS and in NCCL's log: what they call its host is one
  // machine, and the rank of the job that RAS gives it is that of the log's writer.
  void meet_in_communicators() {
    std::map<std::pair<std::uint64_t, std::int32_t>, const model::RasRank*> ras;
    std::set<std::uint64_t> twice;  // hashes that two communicators share
    for (const model::RasView& view : x_case.ras.views) {
      std::set<std::uint64_t> in_view;
      for (const model::RasCommunicator& communicator : view.communicators) {
        if (!in_view.insert(communicator.hash).second) twice.insert(communicator.hash);
        for (const model::RasRank& rank : communicator.ranks) {
          if (rank.pid >= 0) ras[{communicator.hash, rank.rank}] = &rank;
        }
      }
    }
    if (ras.empty()) return;
    for (const model::LogCommunicator& own : x_case.logs.communicators) {
      if (!own.id || twice.count(*own.id) != 0) continue;
      const auto known = ras.find({*own.id, own.rank});
      model::LogOrigin& origin = x_case.logs.origins[own.origin];
      if (known == ras.end() || origin.pid != known->second->pid) continue;
      x_names.same(origin.host, known->second->host);
      if (known->second->global_rank < 0) continue;
      if (origin.global_rank >= 0 && origin.global_rank != known->second->global_rank)
        x_contradicted.emplace(own.input, known->second->global_rank);
      origin.global_rank = known->second->global_rank;
    }
  }

  void rename_hosts() {
    each_host([&](std::string& host) {
      const std::string_view name = x_names.name_for(host);
      if (name != host) host = std::string(name);
    });
  }

  // Lines of a process of which dumps, RAS, other lines or its environment say which rank it is.
  void rank_origins() {
    const ProcessRanks ranks(x_case);
    for (model::LogOrigin& origin : x_case.logs.origins) {
      if (origin.global_rank < 0 && origin.pid >= 0 && origin.label != "kernel")
        origin.global_rank = ranks.find(origin.host, origin.pid);
    }
  }

  // Dumps say neither host nor pid: NCCL's lines do.
  void complete_ranks() {
    using Place = std::tuple<std::string, std::int64_t, std::int32_t>;
    std::map<std::int32_t, std::set<Place>> told;
    for (const model::LogOrigin& origin : x_case.logs.origins) {
      if (origin.global_rank < 0 || origin.pid < 0 || origin.host.empty()) continue;
      told[origin.global_rank].emplace(origin.host, origin.pid, origin.cuda_device);
    }
    for (model::Rank& rank : x_case.ranks) {
      const auto at = told.find(rank.global_rank);
      if (at == told.end()) continue;
      std::set<std::pair<std::string, std::int64_t>> processes;
      std::set<std::int32_t> devices;
      for (const auto& [host, pid, device] : at->second) {
        processes.emplace(host, pid);
        if (device >= 0) devices.insert(device);
      }
      if (processes.size() != 1) continue;  // restarted, or two jobs: nobody knows which of them it is
      const auto& [host, pid] = *processes.begin();
      const bool other_pid = rank.pid >= 0 && rank.pid != pid;
      const bool other_host = !rank.host.empty() && !may_be_same_host(rank.host, host);
      if (other_pid || other_host) {
        x_disagree.push_back(rank.global_rank);
        continue;
      }
      if (rank.host.empty()) rank.host = host;
      if (rank.pid < 0) rank.pid = pid;
      if (rank.cuda_device < 0 && devices.size() == 1) rank.cuda_device = *devices.begin();
    }
  }

  void place_ranks() {
    std::map<std::string_view, model::HostIdentity*> by_name;
    for (model::HostIdentity& host : x_case.hosts) by_name[host.name] = &host;
    using model::IdentityKey;
    for (const model::RankIdentity& identity : x_case.identities) {
      const bool named = std::any_of(identity.facts.begin(), identity.facts.end(),
                                     [](const auto& fact) { return fact.key == IdentityKey::kHost; });
      for (const model::IdentityFact& fact : identity.facts) {
        if (fact.key != IdentityKey::kHost && (named || fact.key != IdentityKey::kAddress)) continue;
        const auto at = by_name.find(x_names.name_for(fact.value));
        if (at == by_name.end()) continue;
        auto& ranks = at->second->ranks;
        if (ranks.empty() || ranks.back() != identity.global_rank) ranks.push_back(identity.global_rank);
      }
    }
  }

  void say_conflicts() {
    if (!x_disagree.empty())
      x_case.conflicts.push_back({first_log(), "logs name another process than dumps or RAS for rank" +
                                                   std::string(x_disagree.size() == 1 ? " " : "s ") +
                                                   base::fold_ranks(x_disagree) +
                                                   ": another run or job may be among them"});
    if (x_contradicted.empty()) return;
    std::set<std::int32_t> ranks;
    for (const auto& [input, rank] : x_contradicted) ranks.insert(rank);
    const std::vector<std::int32_t> list(ranks.begin(), ranks.end());
    x_case.conflicts.push_back(
        {x_contradicted.begin()->first, "lines give another rank than RAS to the process of rank" +
                                            std::string(list.size() == 1 ? " " : "s ") +
                                            base::fold_ranks(list) + ": taken as RAS says"});
  }

  model::InputIndex first_log() const {
    for (const model::LogCommunicator& communicator : x_case.logs.communicators) return communicator.input;
    for (const model::LogEvent& event : x_case.logs.events) return event.input;
    return 0;
  }

  const BundleFacts& x_bundles;
  Case& x_case;
  HostNames x_names;
  std::vector<std::int32_t> x_disagree;  // ascending
  std::set<std::pair<model::InputIndex, std::int32_t>> x_contradicted;
};

}  // namespace

void join_identities(const BundleFacts& bundles, Case& joined) {
  IdentityJoin(bundles, joined).run();
}

}  // namespace unhang::join
