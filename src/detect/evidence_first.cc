// SPDX-License-Identifier: Apache-2.0
#include "detect/evidence_first.h"

#include <algorithm>
#include <set>
#include <string>

namespace unhang::detect {
namespace {

using Kind = EnvironmentKind;

bool tells_an_end(const model::LogEvent& event) {
  switch (event.kind) {
    case model::LogEventKind::kProcessExit:
    case model::LogEventKind::kProcessSignalled:
    case model::LogEventKind::kOutOfMemoryKill:
    case model::LogEventKind::kOrchestratorKill:
    case model::LogEventKind::kFatalSignal:
    case model::LogEventKind::kActorDied:
    case model::LogEventKind::kEngineDead:
    case model::LogEventKind::kTrainingEnd:
      return true;
    default:
      return false;
  }
}

// "stacks, RAS and kernel log", without what is there.
std::string missing_words(const model::Case& joined) {
  std::vector<std::string> missing;
  if (joined.processes.empty()) missing.emplace_back("stacks");
  if (!joined.has_dumps) missing.emplace_back("dumps");
  if (joined.ras.views.empty()) missing.emplace_back("RAS");
  missing.emplace_back("kernel log");
  std::string out;
  for (std::size_t i = 0; i < missing.size(); ++i)
    out += (i == 0 ? "" : i + 1 == missing.size() ? " and " : ", ") + missing[i];
  return out;
}

// RAS tells addresses, which ssh takes as well as names. Empty where a machine of some rank is not known: a
// capture of the others alone would miss it.
std::string host_list(const model::Case& joined) {
  constexpr std::size_t kMost = 8;  // of more the list belongs into a file
  std::set<std::string> hosts;
  for (const model::Rank& rank : joined.ranks) {
    if (rank.host.empty()) return {};
    hosts.insert(rank.host);
  }
  if (hosts.empty() || hosts.size() > kMost) return {};
  std::string out;
  for (const std::string& host : hosts) out += (out.empty() ? "" : ",") + host;
  return out;
}

std::string capture_command(const model::Case& joined, const RecoveryEnvironment& environment) {
  const std::string in_namespace =
      environment.name_space.empty() ? std::string() : " -n " + environment.name_space;
  if (environment.kind == Kind::kSlurm && !environment.job.empty())
    return "unhang capture --slurm " + environment.job;
  if (environment.kind == Kind::kLeaderWorkerSet && !environment.group.empty()) {
    const std::string set = environment.group.substr(0, environment.group.rfind('-'));
    return "unhang capture --pods leaderworkerset.sigs.k8s.io/name=" + set + in_namespace;
  }
  if (environment.kind == Kind::kJobSet && !environment.job.empty())
    return "unhang capture --pods jobset.sigs.k8s.io/jobset-name=" + environment.job + in_namespace;
  const bool pods = environment.kind == Kind::kLeaderWorkerSet || environment.kind == Kind::kJobSet ||
                    environment.kind == Kind::kKubernetes;
  const std::string hosts = pods ? std::string() : host_list(joined);
  return hosts.empty() ? "unhang capture" : "unhang capture --hosts " + hosts;
}

}  // namespace

bool may_be_alive(const model::Case& joined, const model::Verdict& verdict) {
  if (verdict.state != model::State::kStopped) return false;
  const auto& logs = joined.logs;
  // PyTorch's watchdog takes the process with it.
  return logs.timeouts.empty() && std::none_of(logs.events.begin(), logs.events.end(), tells_an_end);
}

void add_evidence_step(const model::Case& joined, const model::Verdict& verdict,
                       const RecoveryEnvironment& environment, std::vector<model::RecoveryStep>& out) {
  if (!may_be_alive(joined, verdict) || !joined.bundles.empty()) return;
  out.push_back(
      {"keep " + missing_words(joined) + " while it stands", capture_command(joined, environment), false});
}

}  // namespace unhang::detect
