// SPDX-License-Identifier: Apache-2.0
//
// From what a kernel, a driver or a peer calls somebody to the rank: a fault of a device, a process or a host
// is the fault of the ranks on it. Built once from Case::identities and Case::hosts.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/case.h"
#include "model/host_aliases.h"
#include "model/verdict.h"

namespace unhang::detect {

class RankNames {
 public:
  RankNames() = default;
  explicit RankNames(const model::Case& joined);

  // Global ranks, ascending; empty: nobody is known to be it. The pid may be the machine's or the
  // container's. An empty host stands for any, where only one host has such a device; of a process
  // only where there is no other host.
  std::vector<std::int32_t> of_process(std::string_view host, std::int64_t pid) const;
  std::vector<std::int32_t> of_gpu(std::string_view host, std::string_view pci_address) const;
  std::vector<std::int32_t> on_host(std::string_view host) const;
  // Whom a subject stands for: its own rank, else the ranks of its process, device or host.
  std::vector<std::int32_t> of(const model::Subject& subject) const;
  // Whether pids of ranks on that host are known: then another pid is no rank.
  bool knows_processes_of(std::string_view host) const;

  // The device of every rank on that host is known: another device there is no rank's.
  bool knows_all_gpus_of(std::string_view host) const;

  // Gives a subject that is one process or device its rank, and its host the name of the Case.
  void complete(model::Subject& subject) const;

 private:
  using Ranks = std::set<std::int32_t>;
  using Key = std::pair<std::string, std::string>;  // host, what stands on it

  static std::vector<std::int32_t> find(const std::map<Key, Ranks>& in, std::string_view host,
                                        const std::string& what);

  model::HostAliases x_hosts;
  std::map<std::string, Ranks, std::less<>> x_on_host;
  std::map<Key, Ranks> x_processes, x_gpus;
};

}  // namespace unhang::detect
