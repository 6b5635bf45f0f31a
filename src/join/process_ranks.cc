// SPDX-License-Identifier: Apache-2.0
#include "join/process_ranks.h"

#include <algorithm>
#include <charconv>

#include "join/host_names.h"

namespace unhang::join {
namespace {

std::int32_t number_of(std::string_view text) {
  std::int32_t value = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? value : -1;
}

}  // namespace

bool may_be_same_host(std::string_view one, std::string_view other) {
  if (one.empty() || other.empty() || one == other) return true;
  // RAS prints addresses where others print names: nothing tells them apart.
  if (is_host_address(one) != is_host_address(other)) return true;
  if (is_host_address(one)) return false;
  return one.substr(0, one.find('.')) == other.substr(0, other.find('.'));
}

ProcessRanks::ProcessRanks(const model::Case& joined) {
  for (const model::Rank& rank : joined.ranks) add(rank.host, rank.pid, rank.global_rank);
  for (const model::LogOrigin& origin : joined.logs.origins) add(origin.host, origin.pid, origin.global_rank);
  for (const model::BundleManifest& bundle : joined.bundles) {
    for (const model::BundleProcess& process : bundle.processes) {
      const auto rank = std::find_if(process.environment.begin(), process.environment.end(),
                                     [](const auto& variable) { return variable.first == "RANK"; });
      if (rank == process.environment.end()) continue;
      add(bundle.host, process.pid, number_of(rank->second));
      for (const std::int64_t pid : process.namespace_pids) add(bundle.host, pid, number_of(rank->second));
    }
  }
}

void ProcessRanks::add(std::string_view host, std::int64_t pid, std::int32_t rank) {
  if (pid < 0 || rank < 0) return;
  x_by_pid[pid].emplace(host, rank);
}

std::int32_t ProcessRanks::find(std::string_view host, std::int64_t pid) const {
  const auto entries = x_by_pid.find(pid);
  if (pid < 0 || entries == x_by_pid.end()) return -1;
  std::int32_t exact = -1;
  std::int32_t found = -1;
  bool ambiguous = false;
  for (const auto& [name, rank] : entries->second) {
    if (!host.empty() && name == host) {
      if (exact >= 0 && exact != rank) return -1;
      exact = rank;
    }
    if (!may_be_same_host(name, host)) continue;
    if (found >= 0 && found != rank) ambiguous = true;
    found = rank;
  }
  if (exact >= 0) return exact;
  return ambiguous ? -1 : found;
}

}  // namespace unhang::join
