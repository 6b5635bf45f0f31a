// SPDX-License-Identifier: Apache-2.0
//
// Whether machines should be taken out of service, and which. Only a cause that the catalogue marks as a
// fault of the machine or its devices does that, never the time-out of one that waited; and only on few
// machines: the same fault on many is a matter of the cluster, and emptying it would mend nothing.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "detect/recovery_environment.h"
#include "model/case.h"
#include "model/verdict.h"

namespace unhang::detect {

inline constexpr std::size_t kFewNodes = 2;

struct NodeIsolation {
  bool asked_for = false;          // the cause is a fault of a machine
  bool on_many = false;            // of more than kFewNodes: nothing is isolated
  std::size_t host_count = 0;      // that show the fault
  std::vector<std::string> hosts;  // to isolate, as the evidence calls them; ascending
  bool host_unknown() const { return asked_for && !on_many && hosts.empty(); }
};

NodeIsolation judge_isolation(const model::Verdict& verdict);

// One step; where a machine is not known by name, it says how to find it; where it is many, it says to stop.
void add_isolation_step(const model::Case& joined, const model::Verdict& verdict,
                        const RecoveryEnvironment& environment, const NodeIsolation& isolation,
                        std::vector<model::RecoveryStep>& out);

// How the scheduler calls the machine; empty: not known ("llama-0-1" is a pod on it).
std::string node_name(const model::Case& joined, const RecoveryEnvironment& environment,
                      const std::string& host);

}  // namespace unhang::detect
