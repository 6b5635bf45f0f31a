// SPDX-License-Identifier: Apache-2.0
#include "checks/env_check.h"

#include <algorithm>

#include "checks/env_rules.h"
#include "checks/merged_results.h"

namespace unhang::checks {
namespace {

using model::CheckResult;

EnvSubject subject_of(const Environment& environment, const EnvCheckOptions& options) {
  return {.environment = environment,
          .software = options.software,
          .collective_timeout = options.collective_timeout,
          .workers = {},
          .interfaces = {}};
}

// Is it something that communicates? A sidecar with a TZ is not.
bool communicates(const Environment& environment) {
  return std::any_of(environment.variables.begin(), environment.variables.end(),
                     [](const Variable& variable) {
                       return variable.name.starts_with("NCCL_") || variable.name.starts_with("TORCH_") ||
                              variable.name.starts_with("VLLM_");
                     });
}

}  // namespace

model::CheckReport check_sources(const EnvSources& sources, const std::string& subject,
                                 const EnvCheckOptions& options) {
  model::CheckReport report{.subject = subject, .notes = {words_of(options.software)}, .results = {}};
  report.notes.insert(report.notes.end(), sources.notes.begin(), sources.notes.end());
  std::vector<Environment> chosen;
  for (const Environment& environment : sources.environments) {
    if (communicates(environment)) chosen.push_back(environment);
  }
  if (chosen.empty() && !sources.environments.empty()) chosen.push_back(sources.environments.front());
  if (chosen.empty()) {
    Environment empty;
    empty.form = sources.are_containers ? base::EnvForm::kKubernetes : base::EnvForm::kExport;
    chosen.push_back(std::move(empty));
    report.notes.push_back("no variable of NCCL, PyTorch or vLLM is set in it");
  }
  MergedResults merged;
  for (const Environment& environment : chosen) {
    EnvSubject one = subject_of(environment, options);
    if (environment.name.ends_with(" of leaderTemplate")) {
      for (const Environment& other : sources.environments) {
        if (other.name.ends_with(" of workerTemplate")) one.workers.push_back(other);
      }
    }
    auto results = check_environment(one);
    // A rule that fires because nothing is set has no line: the container is its place.
    if (!environment.name.empty()) {
      for (CheckResult& result : results) {
        if (result.evidence.empty()) result.evidence.push_back(environment.name);
      }
    }
    merged.add(std::move(results));
  }
  report.results = merged.take(env_rules());
  return report;
}

model::CheckReport check_processes(const ProcessEnvironments& processes, const EnvCheckOptions& options) {
  model::CheckReport report{
      .subject = processes.environment.name, .notes = {words_of(options.software)}, .results = {}};
  report.notes.insert(report.notes.end(), processes.notes.begin(), processes.notes.end());
  report.notes.push_back(
      "as it was at the start of each process; what a program sets in itself later does not show");
  EnvSubject subject = subject_of(processes.environment, options);
  subject.workers = processes.workers;
  subject.interfaces = processes.interfaces;
  MergedResults merged;
  merged.add(check_environment(subject));
  if (!processes.is_worker && !processes.workers.empty()) {
    EnvSubject worker = subject_of(processes.workers.front(), options);
    worker.interfaces = processes.interfaces;
    merged.add(check_environment(worker));
  }
  report.results = merged.take(env_rules());
  return report;
}

}  // namespace unhang::checks
