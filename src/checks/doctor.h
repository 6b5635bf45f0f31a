// SPDX-License-Identifier: Apache-2.0
//
// Is this node or pod ready to be diagnosed: what `unhang doctor` says about what was seen. Pure functions.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "checks/software.h"
#include "model/check_result.h"
#include "model/node_facts.h"

namespace unhang::checks {

struct DoctorOptions {
  Software software;  // of workers whose releases are not known
  std::chrono::nanoseconds collective_timeout = std::chrono::minutes(10);
};

// Workers' variables by the rules of `unhang env check` that decide whether a stall leaves evidence, then the
// machine by the catalogue of node_checks.h.
model::CheckReport check_node(const model::NodeFacts& facts, const DoctorOptions& options);

// The rules of `unhang env check` that it takes, for tests and docs; ascending.
const std::vector<std::string>& env_rules_of_doctor();

}  // namespace unhang::checks
