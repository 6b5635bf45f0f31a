// SPDX-License-Identifier: Apache-2.0
//
// The catalogue of `unhang doctor` beside the variables: each check is a pure function over what was seen,
// and gives nothing where it does not apply.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "checks/check.h"
#include "model/node_facts.h"

namespace unhang::checks {

struct NodeSubject {
  const model::NodeFacts& facts;
  std::vector<std::int64_t> ring_sizes;  // entries of each worker's recorder; 0: off
};

std::vector<Check<NodeSubject>> node_checks();  // all, in the order in which they are shown

// By theme, one file each.
std::span<const Check<NodeSubject>> node_checks_of_workers();
std::span<const Check<NodeSubject>> node_checks_of_dumps();      // FIFO and dump folders
std::span<const Check<NodeSubject>> node_checks_of_services();   // RAS, engines, clock
std::span<const Check<NodeSubject>> node_checks_of_rights();     // tools and permissions
std::span<const Check<NodeSubject>> node_checks_of_resources();  // disk, shared memory, limits
std::span<const Check<NodeSubject>> node_checks_of_devices();    // GPUs and adapters

// For the checks.
std::string name_of(const model::NodeProcess& process);  // "pid 412 (python3)"
std::vector<std::string> names_of(const model::NodeFacts& facts, const std::vector<std::size_t>& workers);
// May this worker make files in the folder, by owner, group and rights? nullopt: not known whose it is.
// Access lists are not looked at.
std::optional<bool> may_write(const model::NodeWorker& worker, const model::PathFacts& folder);
// The same for a user with these groups.
bool may_write(std::int64_t user, const std::vector<std::int64_t>& groups, const model::PathFacts& folder);

}  // namespace unhang::checks
