// SPDX-License-Identifier: Apache-2.0
#include "checks/node_checks.h"

#include <algorithm>

#include "base/printable.h"

namespace unhang::checks {

std::vector<Check<NodeSubject>> node_checks() {
  std::vector<Check<NodeSubject>> all;
  for (const auto theme : {node_checks_of_workers(), node_checks_of_dumps(), node_checks_of_services(),
                           node_checks_of_rights(), node_checks_of_resources(), node_checks_of_devices()})
    all.insert(all.end(), theme.begin(), theme.end());
  return all;
}

std::string name_of(const model::NodeProcess& process) {
  return "pid " + std::to_string(process.pid) + " (" + base::printable(process.name) + ")";
}

std::vector<std::string> names_of(const model::NodeFacts& facts, const std::vector<std::size_t>& workers) {
  std::vector<std::string> names;
  for (const std::size_t worker : workers) names.push_back(name_of(facts.workers[worker].process));
  return names;
}

bool may_write(std::int64_t user, const std::vector<std::int64_t>& groups, const model::PathFacts& folder) {
  constexpr std::uint32_t kWriteAndEnter = 03;
  constexpr int kOwnerShift = 6, kGroupShift = 3;
  if (folder.read_only) return false;
  if (user == 0) return true;
  const bool is_group = std::find(groups.begin(), groups.end(), folder.group) != groups.end();
  const int shift = user == folder.owner ? kOwnerShift : is_group ? kGroupShift : 0;
  return ((folder.rights >> shift) & kWriteAndEnter) == kWriteAndEnter;
}

std::optional<bool> may_write(const model::NodeWorker& worker, const model::PathFacts& folder) {
  if (!worker.user) return std::nullopt;
  return may_write(*worker.user, worker.groups, folder);
}

}  // namespace unhang::checks
