// SPDX-License-Identifier: Apache-2.0
//
// Evidence of another model instance, job or run than the one that is looked at: set aside and named, never
// mixed in.
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "join/join.h"
#include "join/nccl_job.h"

namespace unhang::join {
namespace {

// The instance with most files; of equals the first by name.
std::string largest_instance(const std::map<std::string, std::size_t>& instances) {
  return std::max_element(instances.begin(), instances.end(),
                          [](const auto& a, const auto& b) { return a.second < b.second; })
      ->first;
}

NcclJob known_to_ras(const model::RasView& view) {
  NcclJob out;
  for (const model::RasCommunicator& communicator : view.communicators) {
    out.communicators.insert(communicator.hash);
    for (const model::RasRank& rank : communicator.ranks) {
      if (rank.pid >= 0) out.pids.insert(rank.pid);
    }
  }
  return out;
}

enum class Belongs : std::uint8_t { kUnknown, kYes, kNo };

// A log without communicators may be anybody's.
Belongs belongs(const model::Log& log, const NcclJob& job) {
  bool any = false;
  for (const model::LogCommunicator& own : log.communicators) {
    if (!own.id) continue;
    any = true;
    if (job.communicators.count(*own.id) != 0) return Belongs::kYes;
  }
  if (!any) return Belongs::kUnknown;
  const bool same_process = std::any_of(log.origins.begin(), log.origins.end(), [&](const auto& origin) {
    return origin.pid >= 0 && job.pids.count(origin.pid) != 0;
  });
  return same_process ? Belongs::kYes : Belongs::kNo;
}

}  // namespace

// Takes everything out that was read from that file.
void CaseBuilder::forget(model::InputIndex input, const std::string& reason) {
  const auto of_input = [input](const auto& record) { return record.input == input; };
  const bool has_dump = std::any_of(x_dumps.begin(), x_dumps.end(), of_input);
  for (JoinedDump& dump : x_dumps) {
    if (dump.input == input) dump.set_aside = reason;
  }
  std::erase_if(x_ras_answers, [input](const AskedAnswer& answer) { return answer.source == input; });
  std::erase_if(x_ras_events, of_input);
  std::erase_if(x_processes, of_input);
  std::erase_if(x_case.engine_readings, of_input);
  x_logs.drop(input);
  // A dump is listed with all dumps that were set aside.
  if (!has_dump) x_case.set_aside.push_back({input, reason, false});
}

void CaseBuilder::set_aside_other_instances(const Hints& hints) {
  std::map<std::string, std::size_t> instances;
  for (const model::Input& input : x_case.inputs) {
    const FileFacts* facts = x_facts.find(input.path);
    if (facts != nullptr && !facts->instance.empty()) ++instances[facts->instance];
  }
  if (instances.empty() || (instances.size() == 1 && !hints.instance)) return;
  const std::string chosen = hints.instance ? *hints.instance : largest_instance(instances);
  for (model::InputIndex i = 0; i < x_case.inputs.size(); ++i) {
    const FileFacts* facts = x_facts.find(x_case.inputs[i].path);
    if (facts == nullptr || facts->instance.empty() || facts->instance == chosen) continue;
    forget(i, "of model instance " + facts->instance + ": --instance " + facts->instance + " looks at it");
  }
  std::erase_if(x_case.bundles, [&](const model::BundleManifest& bundle) {
    return !bundle.instance.empty() && bundle.instance != chosen;
  });
}

void CaseBuilder::set_aside_other_logs() {
  if (x_case.ras.views.empty()) return;
  const model::RasView& latest = x_case.ras.views.back();
  if (!latest.complete || latest.communicators.empty()) return;
  const NcclJob job = known_to_ras(latest);
  std::vector<model::InputIndex> strangers;
  bool any_of_job = false;
  x_logs.each([&](model::InputIndex input, const model::Log& log) {
    const Belongs whose = belongs(log, job);
    any_of_job = any_of_job || whose == Belongs::kYes;
    if (whose == Belongs::kNo) strangers.push_back(input);
  });
  // Where no log is of the job that answered RAS, it may have been started again since: then logs are all
  // there is.
  if (!any_of_job) return;
  for (const model::InputIndex input : strangers)
    forget(input,
           "its communicators and processes are not those of the job that answers RAS: another job or run");
}

}  // namespace unhang::join
