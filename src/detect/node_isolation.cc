// SPDX-License-Identifier: Apache-2.0
#include "detect/node_isolation.h"

#include <algorithm>
#include <set>

#include "detect/pod_name.h"
#include "model/cause.h"

namespace unhang::detect {
namespace {

using model::RecoveryStep;
using Kind = EnvironmentKind;

bool in_kubernetes(const RecoveryEnvironment& environment) {
  return environment.kind == Kind::kLeaderWorkerSet || environment.kind == Kind::kJobSet ||
         environment.kind == Kind::kKubernetes || !environment.name_space.empty();
}

std::set<std::string> hosts_of(const std::vector<model::Subject>& subjects) {
  std::set<std::string> out;
  for (const model::Subject& subject : subjects) {
    if (!subject.host.empty()) out.insert(subject.host);
  }
  return out;
}

// Everybody on whom the evidence shows the chosen fault.
std::set<std::string> hosts_with_the_fault(const model::Verdict& verdict) {
  std::set<std::string> out = hosts_of(verdict.culprits);
  out.merge(hosts_of(verdict.suspects));
  for (const model::Finding& finding : verdict.findings) {
    if (finding.cause == verdict.cause) out.merge(hosts_of(finding.culprits));
  }
  return out;
}

bool is_pod(const RecoveryEnvironment& environment, const std::string& host) {
  if (!in_kubernetes(environment)) return false;
  return host == environment.pod || host == environment.group || is_of_job_set(host) ||
         (environment.kind == Kind::kLeaderWorkerSet && !group_of_worker(host).empty());
}

// "b07/dmesg.log", where the first evidence stands: where the name of the machine is missing, whoever has the
// file knows it.
std::string file_of(const model::Verdict& verdict) {
  const auto& subjects = verdict.culprits.empty() ? verdict.suspects : verdict.culprits;
  for (const model::Subject& subject : subjects) {
    for (const model::EvidenceId id : subject.evidence) {
      if (id >= verdict.evidence.size()) continue;
      const std::string& file = verdict.evidence[id].file;
      const std::size_t name = file.rfind('/');
      const std::size_t folder = name == std::string::npos || name == 0 ? name : file.rfind('/', name - 1);
      return folder == std::string::npos ? file : file.substr(folder + 1);
    }
  }
  return {};
}

std::string command_for(const RecoveryEnvironment& environment, const std::vector<std::string>& nodes,
                        std::string_view cause) {
  const bool kubernetes = in_kubernetes(environment);
  std::string list;
  for (const std::string& node : nodes) list += (list.empty() ? "" : kubernetes ? " " : ",") + node;
  if (kubernetes) return "kubectl cordon " + list;
  if (environment.kind == Kind::kSlurm)
    return "scontrol update NodeName=" + list + " State=DRAIN Reason=\"unhang: " + std::string(cause) + '"';
  return {};
}

}  // namespace

std::string node_name(const model::Case& joined, const RecoveryEnvironment& environment,
                      const std::string& host) {
  for (const model::RankIdentity& rank : joined.identities) {
    const auto named = [&](model::IdentityKey key) {
      return std::any_of(rank.facts.begin(), rank.facts.end(),
                         [&](const auto& fact) { return fact.key == key && fact.value == host; });
    };
    if (!named(model::IdentityKey::kHost) && !named(model::IdentityKey::kPod)) continue;
    for (const model::IdentityFact& fact : rank.facts) {
      if (fact.key == model::IdentityKey::kNode) return fact.value;
    }
  }
  for (const model::BundleManifest& bundle : joined.bundles) {
    if (bundle.host != host) continue;
    for (const auto& [label, value] : bundle.labels) {
      if (label == "node" && !value.empty()) return value;
    }
  }
  return is_pod(environment, host) ? std::string() : host;
}

NodeIsolation judge_isolation(const model::Verdict& verdict) {
  NodeIsolation out;
  const model::CauseInfo* info = model::find_cause(verdict.cause);
  // An Xid that a program brought about stands under the same code.
  out.asked_for = info != nullptr && info->isolates_node && verdict.root != "application_error" &&
                  verdict.confidence != model::Confidence::kLow;
  if (!out.asked_for) return out;
  const std::set<std::string> all = hosts_with_the_fault(verdict);
  out.host_count = all.size();
  out.on_many = all.size() > kFewNodes;
  if (out.on_many) return out;
  std::set<std::string> hosts = hosts_of(verdict.culprits);
  // Which of several devices it was may be open while the machine is not.
  if (hosts.empty() && all.size() == 1) hosts = all;
  out.hosts.assign(hosts.begin(), hosts.end());
  return out;
}

void add_isolation_step(const model::Case& joined, const model::Verdict& verdict,
                        const RecoveryEnvironment& environment, const NodeIsolation& isolation,
                        std::vector<RecoveryStep>& out) {
  if (!isolation.asked_for) return;
  if (isolation.on_many) {
    out.push_back({"isolate nobody: " + std::to_string(isolation.host_count) +
                       " machines show the same fault, so look for what they share (a change of driver, "
                       "image or firmware, a switch, power)",
                   "", false});
    return;
  }
  std::vector<std::string> nodes;
  std::string who, where_to_find;
  const auto add = [&](const std::string& node, const std::string& words) {
    nodes.push_back(node);
    who += (who.empty() ? "" : " and ") + words;
  };
  for (const std::string& host : isolation.hosts) {
    const std::string node = node_name(joined, environment, host);
    add(node.empty() ? "NODE" : node, node.empty() ? "the node of pod " + host : node);
    const std::string space = environment.name_space.empty() ? "NAMESPACE" : environment.name_space;
    if (node.empty()) where_to_find = "; NODE: kubectl get pod " + host + " -n " + space + " -o wide";
  }
  if (isolation.host_unknown()) {
    const std::string file = file_of(verdict);
    add("NODE", file.empty() ? "the machine" : "the machine that wrote " + file);
  }
  RecoveryStep step{"take " + who + " out of service, " + std::string(verdict.cause) +
                        " is a fault of the machine" + where_to_find,
                    command_for(environment, nodes, verdict.cause), true};
  if (step.command.empty()) step.why += ": leave it out of the job's list of hosts";
  out.push_back(std::move(step));
}

}  // namespace unhang::detect
