// SPDX-License-Identifier: Apache-2.0
#include "checks/doctor.h"

#include <algorithm>
#include <set>

#include "checks/engine_command.h"
#include "checks/env_rules.h"
#include "checks/merged_results.h"
#include "checks/node_checks.h"
#include "checks/variable_names.h"

namespace unhang::checks {
namespace {

Environment environment_of(const model::NodeProcess& process) {
  Environment out;
  out.name = name_of(process);
  for (const auto& [name, value] : process.environment) {
    if (is_watched(name)) out.variables.push_back({.name = name, .value = value, .where = out.name});
  }
  return out;
}

// What is known of the worker itself is better than what was said for all.
EnvSubject subject_of(const model::NodeWorker& worker, const DoctorOptions& options) {
  EnvSubject subject;
  subject.environment = environment_of(worker.process);
  subject.software = options.software;
  subject.collective_timeout = options.collective_timeout;
  if (const auto release = parse_release(worker.nccl_release); release && subject.software.nccl_assumed) {
    subject.software.nccl = *release;
    subject.software.nccl_assumed = false;
  }
  if (const auto release = parse_release(worker.torch_release); release && subject.software.torch_assumed) {
    subject.software.torch = *release;
    subject.software.torch_assumed = false;
  }
  // "VLLM::Worker_TP0": engines name their processes so.
  if (const auto engine = engine_of_command(worker.process.name); engine && subject.software.engine_assumed) {
    subject.software.engine = *engine;
    subject.software.engine_from_command = true;
  }
  return subject;
}

std::vector<Check<EnvSubject>> chosen_rules() {
  std::vector<Check<EnvSubject>> rules = env_rules();
  const auto& wanted = env_rules_of_doctor();
  std::erase_if(rules, [&](const Check<EnvSubject>& rule) {
    return !std::binary_search(wanted.begin(), wanted.end(), std::string(rule.id));
  });
  return rules;
}

std::vector<model::CheckResult> check_environments(const model::NodeFacts& facts,
                                                   const DoctorOptions& options) {
  const auto rules = chosen_rules();
  MergedResults merged;
  const auto add = [&](const EnvSubject& subject) {
    auto results = run_checks<EnvSubject>(rules, subject);
    // A rule that fires because nothing is set has no line: the process is its place.
    for (model::CheckResult& result : results) {
      if (result.evidence.empty() && result.status != model::CheckStatus::kPass)
        result.evidence.push_back(subject.environment.name);
    }
    merged.add(std::move(results));
  };
  for (const model::NodeWorker& worker : facts.workers) {
    if (worker.process.environment_known) add(subject_of(worker, options));
  }
  for (std::size_t i = 0; i < facts.launchers.size(); ++i) {
    EnvSubject launcher;
    launcher.environment = environment_of(facts.launchers[i]);
    launcher.software = options.software;
    for (const model::NodeWorker& worker : facts.workers) {
      if (worker.launcher == i && worker.process.environment_known)
        launcher.workers.push_back(environment_of(worker.process));
    }
    std::vector<model::CheckResult> differences;
    for (const Check<EnvSubject>& rule : rules) {
      if (rule.id == "workers-differ") differences = run_checks<EnvSubject>(std::span(&rule, 1), launcher);
    }
    merged.add(std::move(differences));
  }
  return merged.take(rules);
}

void add_notes(const model::NodeFacts& facts, model::CheckReport& report) {
  if (facts.workers.empty()) {
    report.notes.push_back(
        std::string(
            "no worker runs here that may be looked at: variables, dump folders and limits of workers "
            "were not checked; run it again while the job runs") +
        (facts.rights.user.value_or(0) != 0 ? ", as its user or as root" : ""));
    return;
  }
  for (const std::string& note : facts.worker_notes) report.notes.push_back(note);
  std::set<std::string> unknown;
  for (const model::NodeWorker& worker : facts.workers)
    add_unknown_names(environment_of(worker.process), unknown);
  if (const auto words = words_of_unknown_names(unknown)) report.notes.push_back(*words);
  const bool assumed = std::any_of(facts.workers.begin(), facts.workers.end(), [](const auto& worker) {
    return worker.nccl_release.empty() || worker.torch_release.empty();
  });
  if (!assumed) return;
  report.notes.push_back(
      "releases of NCCL or PyTorch that were not found are taken as the newest, unless --nccl-version and "
      "--torch-version say them");
}

}  // namespace

const std::vector<std::string>& env_rules_of_doctor() {
  static const std::vector<std::string> ids{"blocking-wait",     "dev-mode",        "dump-off",
                                            "dump-place",        "dump-wait-short", "engine-before-watchdog",
                                            "error-handling",    "fifo-dead",       "heartbeat-before-dump",
                                            "log-file",          "log-file-unused", "log-no-start",
                                            "log-off",           "log-subsystems",  "log-times-none",
                                            "monitor-off",       "not-a-number",    "ras-off",
                                            "ras-public",        "recorder-off",    "ring-by-default",
                                            "ring-names-differ", "ring-size",       "trace-on",
                                            "unknown-name",      "workers-differ"};
  return ids;
}

model::CheckReport check_node(const model::NodeFacts& facts, const DoctorOptions& options) {
  model::CheckReport report{.subject = "this node", .notes = {}, .results = {}};
  if (facts.in_container) report.subject = facts.in_kubernetes ? "this pod" : "this container";
  if (!facts.workers.empty()) {
    report.subject +=
        ", " + std::to_string(facts.workers.size()) + (facts.workers.size() == 1 ? " worker" : " workers");
  }
  add_notes(facts, report);
  NodeSubject subject{.facts = facts, .ring_sizes = {}};
  for (const model::NodeWorker& worker : facts.workers)
    subject.ring_sizes.push_back(ring_size(subject_of(worker, options)));
  const auto checks = node_checks();
  report.results = run_checks<NodeSubject>(checks, subject);
  // Variables come behind the workers themselves, in front of what follows from them.
  const auto behind = std::find_if(report.results.begin(), report.results.end(),
                                   [](const auto& result) { return !result.id.starts_with("workers-"); });
  auto environments = check_environments(facts, options);
  report.results.insert(behind, std::make_move_iterator(environments.begin()),
                        std::make_move_iterator(environments.end()));
  return report;
}

}  // namespace unhang::checks
