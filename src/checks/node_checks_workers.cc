// SPDX-License-Identifier: Apache-2.0
//
// Whether the workers are there and may be looked at.
#include "checks/node_checks.h"

namespace unhang::checks {
namespace {

using Status = model::CheckStatus;

constexpr const char* kMoreRights =
    "sudo unhang doctor\n# in a pod: securityContext: {capabilities: {add: [SYS_PTRACE]}}";

Outcomes found(const NodeSubject& subject) {
  const model::NodeFacts& facts = subject.facts;
  if (!facts.workers.empty()) {
    return passed(std::to_string(facts.workers.size()) +
                  (facts.workers.size() == 1 ? " worker" : " workers"));
  }
  if (!facts.was_asked_for) return not_applicable();
  return {
      {Status::kFail, "none of the processes asked for runs here", "ps -ef | grep -i -e python -e vllm", {}}};
}

Outcomes readable(const NodeSubject& subject) {
  if (subject.facts.workers.empty()) return not_applicable();
  std::vector<std::string> closed;
  std::string first;
  for (const model::NodeWorker& worker : subject.facts.workers) {
    if (worker.process.environment_known && worker.not_readable.empty()) continue;
    closed.push_back(name_of(worker.process));
    if (first.empty() && !worker.not_readable.empty()) first = ": " + worker.not_readable.front();
  }
  if (closed.empty()) return passed();
  return {{Status::kFail,
           "/proc of " + std::to_string(closed.size()) + " of " +
               std::to_string(subject.facts.workers.size()) + " workers may not be read" + first,
           kMoreRights, closed}};
}

constexpr Check<NodeSubject> kChecks[] = {
    {"workers-found", "the workers run here", "All that follows is about them.", &found},
    {"workers-readable", "/proc of the workers may be read",
     "Their environment says where dumps go; without it, and without their stacks, a hang is looked at from "
     "outside only.",
     &readable},
};

}  // namespace

std::span<const Check<NodeSubject>> node_checks_of_workers() {
  return kChecks;
}

}  // namespace unhang::checks
