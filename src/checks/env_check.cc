// SPDX-License-Identifier: Apache-2.0
#include "checks/env_check.h"

#include <algorithm>

#include "checks/env_rules.h"
#include "checks/merged_results.h"
#include "checks/variable_names.h"

namespace unhang::checks {
namespace {

using model::CheckResult;

// With the engine that its command starts, where the caller named none.
Software software_of(const Environment& environment, const Software& software) {
  Software out = software;
  if (out.engine_assumed && environment.engine) {
    out.engine = *environment.engine;
    out.engine_from_command = true;
  }
  return out;
}

// "for NCCL 2.30 … with vllm (by its command; --engine)", and the others where there are several engines.
void add_software_notes(const std::vector<Environment>& environments, const Software& software,
                        std::vector<std::string>& notes) {
  std::vector<Engine> engines;
  for (const Environment& environment : environments) {
    const Engine engine = software_of(environment, software).engine;
    if (engine != Engine::kNone && std::find(engines.begin(), engines.end(), engine) == engines.end())
      engines.push_back(engine);
  }
  if (!software.engine_assumed || engines.empty()) {
    notes.push_back(words_of(software));
    return;
  }
  Software told = software;
  told.engine = engines.front();
  told.engine_from_command = true;
  notes.push_back(words_of(told));
  for (std::size_t i = 1; i < engines.size(); ++i)
    notes.push_back("another container starts " + std::string(name_of(engines[i])) +
                    ", and is checked for that");
}

void add_unknown_names_note(const std::vector<Environment>& environments, std::vector<std::string>& notes) {
  std::set<std::string> names;
  for (const Environment& environment : environments) add_unknown_names(environment, names);
  if (const auto words = words_of_unknown_names(names)) notes.push_back(*words);
}

EnvSubject subject_of(const Environment& environment, const EnvCheckOptions& options) {
  return {.environment = environment,
          .software = software_of(environment, options.software),
          .collective_timeout = options.collective_timeout,
          .workers = {},
          .interfaces = {}};
}

// Is it something that communicates? A sidecar with a TZ is not.
bool communicates(const Environment& environment) {
  if (environment.engine) return true;
  return std::any_of(environment.variables.begin(), environment.variables.end(),
                     [](const Variable& variable) {
                       return variable.name.starts_with("NCCL_") || variable.name.starts_with("TORCH_") ||
                              variable.name.starts_with("VLLM_");
                     });
}

}  // namespace

model::CheckReport check_sources(const EnvSources& sources, const std::string& subject,
                                 const EnvCheckOptions& options) {
  model::CheckReport report{.subject = subject, .notes = {}, .results = {}};
  std::vector<Environment> chosen;
  for (const Environment& environment : sources.environments) {
    if (communicates(environment)) chosen.push_back(environment);
  }
  if (chosen.empty() && !sources.environments.empty()) chosen.push_back(sources.environments.front());
  if (chosen.empty()) {
    Environment empty;
    empty.form = sources.form;
    chosen.push_back(std::move(empty));
  }
  add_software_notes(chosen, options.software, report.notes);
  report.notes.insert(report.notes.end(), sources.notes.begin(), sources.notes.end());
  if (std::all_of(chosen.begin(), chosen.end(), [](const auto& one) { return one.variables.empty(); }))
    report.notes.push_back("no variable of NCCL, PyTorch or vLLM is set in it");
  add_unknown_names_note(chosen, report.notes);
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
  model::CheckReport report{.subject = processes.environment.name, .notes = {}, .results = {}};
  add_software_notes({processes.environment}, options.software, report.notes);
  add_unknown_names_note({processes.environment}, report.notes);
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
