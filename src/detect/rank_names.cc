// SPDX-License-Identifier: Apache-2.0
#include "detect/rank_names.h"

#include <algorithm>

#include "base/pci_address.h"

namespace unhang::detect {

using model::IdentityKey;

RankNames::RankNames(const model::Case& joined) : x_hosts(joined.hosts) {
  for (const model::HostIdentity& host : joined.hosts) {
    x_on_host[host.name].insert(host.ranks.begin(), host.ranks.end());
  }
  for (const model::RankIdentity& identity : joined.identities) {
    for (const model::IdentityFact& where : identity.facts) {
      if (where.key != IdentityKey::kHost && where.key != IdentityKey::kAddress &&
          where.key != IdentityKey::kNode)
        continue;
      const std::string host(x_hosts.name_for(where.value));
      for (const model::IdentityFact& fact : identity.facts) {
        if (fact.key == IdentityKey::kPid || fact.key == IdentityKey::kContainerPid)
          x_processes[{host, fact.value}].insert(identity.global_rank);
        if (fact.key == IdentityKey::kGpuBusId) x_gpus[{host, fact.value}].insert(identity.global_rank);
      }
    }
  }
}

std::vector<std::int32_t> RankNames::find(const std::map<Key, Ranks>& in, std::string_view host,
                                          const std::string& what) {
  if (!host.empty()) {
    const auto at = in.find({std::string(host), what});
    return at == in.end() ? std::vector<std::int32_t>()
                          : std::vector<std::int32_t>(at->second.begin(), at->second.end());
  }
  Ranks found;
  for (const auto& [key, ranks] : in) {
    if (key.second == what) found.insert(ranks.begin(), ranks.end());
  }
  if (found.size() != 1) return {};
  return {found.begin(), found.end()};
}

// A pid without its host is nobody's where there are several: containers count from 1 on every machine.
std::vector<std::int32_t> RankNames::of_process(std::string_view host, std::int64_t pid) const {
  if (pid < 0 || (host.empty() && x_on_host.size() > 1)) return {};
  return find(x_processes, x_hosts.name_for(host), std::to_string(pid));
}

std::vector<std::int32_t> RankNames::of_gpu(std::string_view host, std::string_view address) const {
  const std::string device = base::pci_address(address);
  if (device.empty()) return {};
  return find(x_gpus, x_hosts.name_for(host), device);
}

std::vector<std::int32_t> RankNames::on_host(std::string_view host) const {
  const auto at = x_on_host.find(x_hosts.name_for(host));
  if (at == x_on_host.end()) return {};
  return {at->second.begin(), at->second.end()};
}

std::vector<std::int32_t> RankNames::of(const model::Subject& subject) const {
  if (subject.rank) return {*subject.rank};
  switch (subject.kind) {
    case model::SubjectKind::kProcess:
      return subject.pid ? of_process(subject.host, *subject.pid) : std::vector<std::int32_t>();
    case model::SubjectKind::kGpu:
      return of_gpu(subject.host, subject.gpu);
    case model::SubjectKind::kHost:
      return on_host(subject.host);
    default:
      return {};
  }
}

bool RankNames::knows_processes_of(std::string_view host) const {
  const std::string name(x_hosts.name_for(host));
  const auto at = x_processes.lower_bound({name, std::string()});
  return !name.empty() && at != x_processes.end() && at->first.first == name;
}

bool RankNames::knows_all_gpus_of(std::string_view host) const {
  const std::string name(x_hosts.name_for(host));
  const auto there = x_on_host.find(name);
  if (name.empty() || there == x_on_host.end() || there->second.empty()) return false;
  Ranks known;
  for (auto at = x_gpus.lower_bound({name, std::string()}); at != x_gpus.end() && at->first.first == name;
       ++at)
    known.insert(at->second.begin(), at->second.end());
  return std::includes(known.begin(), known.end(), there->second.begin(), there->second.end());
}

void RankNames::complete(model::Subject& subject) const {
  if (const std::string_view name = x_hosts.name_for(subject.host); name != subject.host)
    subject.host = std::string(name);
  const bool one = subject.kind == model::SubjectKind::kProcess || subject.kind == model::SubjectKind::kGpu;
  if (!one || subject.rank) return;
  const std::vector<std::int32_t> ranks = of(subject);
  if (ranks.size() == 1) subject.rank = ranks.front();
}

}  // namespace unhang::detect
