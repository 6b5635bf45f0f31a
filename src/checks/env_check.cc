// SPDX-License-Identifier: Apache-2.0
#include "checks/env_check.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "checks/env_rules.h"

namespace unhang::checks {
namespace {

using model::CheckResult;
using model::CheckStatus;

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

// Adds results; the same finding of another environment only adds its places. A rule that found something in
// one environment has not passed.
class Merged {
 public:
  void add(std::vector<CheckResult> results) {
    for (CheckResult& result : results) {
      const auto key = std::tuple(result.id, result.status, result.detail);
      const auto [at, is_new] = x_known.emplace(key, x_results.size());
      if (is_new) {
        if (result.status != CheckStatus::kPass) x_found.insert(result.id);
        x_results.push_back(std::move(result));
        continue;
      }
      for (std::string& place : result.evidence) {
        auto& places = x_results[at->second].evidence;
        if (std::find(places.begin(), places.end(), place) == places.end())
          places.push_back(std::move(place));
      }
    }
  }

  std::vector<CheckResult> take() {
    std::erase_if(x_results, [&](const CheckResult& result) {
      return result.status == CheckStatus::kPass && x_found.contains(result.id);
    });
    // In the order of the catalogue, whichever environment a result is of.
    std::map<std::string, std::size_t> order;
    for (const Check<EnvSubject>& rule : env_rules()) order.emplace(rule.id, order.size());
    std::stable_sort(x_results.begin(), x_results.end(),
                     [&](const CheckResult& a, const CheckResult& b) { return order[a.id] < order[b.id]; });
    return std::move(x_results);
  }

 private:
  std::vector<CheckResult> x_results;
  std::map<std::tuple<std::string, CheckStatus, std::string>, std::size_t> x_known;
  std::set<std::string> x_found;
};

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
  Merged merged;
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
  report.results = merged.take();
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
  Merged merged;
  merged.add(check_environment(subject));
  if (!processes.is_worker && !processes.workers.empty()) {
    EnvSubject worker = subject_of(processes.workers.front(), options);
    worker.interfaces = processes.interfaces;
    merged.add(check_environment(worker));
  }
  report.results = merged.take();
  return report;
}

}  // namespace unhang::checks
