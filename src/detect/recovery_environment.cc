// SPDX-License-Identifier: Apache-2.0
#include "detect/recovery_environment.h"

#include <algorithm>
#include <array>
#include <map>
#include <vector>

#include "detect/pod_name.h"

namespace unhang::detect {
namespace {

using model::LogEvent;
using model::LogEventKind;
using Kind = EnvironmentKind;

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// What stands behind `mark` up to a blank or a sign that ends a word; empty where there is no mark.
std::string word_behind(std::string_view text, std::string_view mark) {
  const std::size_t at = text.find(mark);
  if (at == std::string_view::npos) return {};
  const std::string_view rest = text.substr(at + mark.size());
  return std::string(rest.substr(0, rest.find_first_of(" \t,;:'\"()*")));
}

// It goes into a command that somebody copies: letters, digits and what names are made of; else empty.
std::string safe_name(std::string_view text) {
  constexpr std::size_t kLongest = 253;
  const bool fits = !text.empty() && text.size() <= kLongest && text.front() != '-' &&
                    std::all_of(text.begin(), text.end(), [](unsigned char c) {
                      return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                             c == '-' || c == '_' || c == '.' || c == '@' || c == '+';
                    });
  return fits ? std::string(text) : std::string();
}

// "4711", "4711.batch" and "4711.0" are of job 4711; "4711_3" is one of an array.
std::string slurm_job(std::string_view text) {
  const std::string_view job = text.substr(0, text.find_first_not_of("0123456789_"));
  return job.empty() || job.front() == '_' ? std::string() : std::string(job);
}

class Search {
 public:
  explicit Search(const model::Case& joined) : x_case(joined) {}

  RecoveryEnvironment run() {
    for (const model::BundleManifest& bundle : x_case.bundles) look_at(bundle);
    for (const LogEvent& event : x_case.logs.events) look_at(event);
    for (const model::LogOrigin& origin : x_case.logs.origins) {
      if (origin.label.starts_with("RayWorker") || origin.label == "raylet")
        sign(Kind::kRay, "lines of " + origin.label);
    }
    look_at_names();
    for (auto& [kind, found] : x_found) {
      found.kind = kind;
      for (const auto& field :
           {&RecoveryEnvironment::name_space, &RecoveryEnvironment::pod, &RecoveryEnvironment::container}) {
        if ((found.*field).empty()) found.*field = x_general.*field;
      }
      return found;
    }
    return {};
  }

 private:
  using Field = std::string RecoveryEnvironment::*;

  // What told first stays.
  RecoveryEnvironment& sign(Kind kind, const std::string& basis) {
    RecoveryEnvironment& found = x_found[kind];
    if (found.basis.empty()) found.basis = basis;
    return found;
  }
  static void keep(std::string& field, std::string_view value) {
    if (field.empty()) field = safe_name(value);
  }
  void keep_pod(std::string_view pod) {
    const std::string name = safe_name(pod);
    if (!name.empty()) x_names.push_back(name);
    if (x_general.pod.empty()) x_general.pod = name;
  }

  void look_at(const model::BundleManifest& bundle) {
    for (const auto& [label, value] : bundle.labels) look_at_label(label, value);
    for (const model::BundleSource& source : bundle.sources) look_at(source);
    for (const model::BundleProcess& process : bundle.processes) {
      const std::string whose = " of process " + std::to_string(process.pid) +
                                (bundle.host.empty() ? std::string() : " on " + bundle.host);
      for (const auto& [variable, value] : process.environment) look_at_variable(variable, value, whose);
      if (process.name.starts_with("ray::")) sign(Kind::kRay, "the name" + whose);
      if (process.namespace_pids.size() > 1) sign(Kind::kDocker, "a container around" + whose.substr(3));
    }
  }

  void look_at_label(const std::string& label, const std::string& value) {
    const std::string basis = "label " + label;
    if (has(label, "leaderworkerset") || has(label, "lws")) {
      sign(Kind::kLeaderWorkerSet, basis);
    } else if (has(label, "jobset")) {
      keep(sign(Kind::kJobSet, basis).job, value);
    } else if (has(label, "slurm")) {
      keep(sign(Kind::kSlurm, basis).job, slurm_job(value));
    } else if (has(label, "unit") && has(value, ".service")) {
      keep(sign(Kind::kSystemd, basis).unit, value);
    } else if (has(label, "namespace")) {
      sign(Kind::kKubernetes, basis);
      keep(x_general.name_space, value);
    } else if (has(label, "pod")) {
      sign(Kind::kKubernetes, basis);
      keep_pod(value);
    } else if (has(label, "container")) {
      sign(Kind::kDocker, basis);
      keep(x_general.container, value);
    }
  }

  void look_at(const model::BundleSource& source) {
    if (source.kind == "member" && source.asked.starts_with("pod ")) {  // "pod prod/vllm-0, container vllm"
      sign(Kind::kKubernetes, "a capture of pods");
      const std::string name = word_behind(source.asked, "pod ");
      const std::size_t slash = name.find('/');
      if (slash != std::string::npos) keep(x_general.name_space, name.substr(0, slash));
      keep_pod(name.substr(slash == std::string::npos ? 0 : slash + 1));
    }
    if (source.kind == "member" && has(source.asked, " of job "))
      keep(sign(Kind::kSlurm, "a capture of the job's nodes").job,
           slurm_job(word_behind(source.asked, " of job ")));
    if (source.kind != "scheduler") return;
    for (const model::BundleFile& file : source.files) {
      if (file.note.starts_with("scontrol show job"))
        keep(sign(Kind::kSlurm, "what Slurm knew of the job").job,
             slurm_job(word_behind(file.note, "job -d ")));
      if (!file.note.starts_with("kubectl get")) continue;
      sign(Kind::kKubernetes, "what Kubernetes knew of the pod");
      keep(x_general.name_space, word_behind(file.note, " -n "));
      keep_pod(word_behind(file.note, "kubectl get pod "));
    }
  }

  void look_at_variable(const std::string& variable, const std::string& value, const std::string& whose) {
    const std::string basis = variable + whose;
    if (variable.starts_with("LWS_")) {
      RecoveryEnvironment& found = sign(Kind::kLeaderWorkerSet, basis);
      if (variable != "LWS_LEADER_ADDRESS") return;  // "llama-0.llama.prod"
      const std::size_t first = value.find('.');
      keep(found.group, value.substr(0, first));
      const std::size_t second = first == value.npos ? value.npos : value.find('.', first + 1);
      if (second == value.npos) return;
      keep(found.name_space, value.substr(second + 1, value.find('.', second + 1) - second - 1));
    } else if (variable == "JOBSET_NAME") {
      keep(sign(Kind::kJobSet, basis).job, value);
    } else if (variable == "JOB_COMPLETION_INDEX") {
      sign(Kind::kJobSet, basis);
    } else if (variable.starts_with("RAY_")) {
      sign(Kind::kRay, basis);
    } else if (variable == "SLURM_JOB_ID") {
      keep(sign(Kind::kSlurm, basis).job, slurm_job(value));
    } else if (variable == "TORCHELASTIC_RUN_ID") {
      keep(sign(Kind::kTorchrun, basis).job, value);
    } else if (variable == "TORCHELASTIC_RESTART_COUNT" || variable == "GROUP_RANK") {
      sign(Kind::kTorchrun, basis);
    } else if (variable == "POD_NAME") {
      sign(Kind::kKubernetes, basis);
      keep_pod(value);
    } else if (variable == "POD_NAMESPACE") {
      sign(Kind::kKubernetes, basis);
      keep(x_general.name_space, value);
    } else if (variable == "INVOCATION_ID") {
      sign(Kind::kSystemd, basis);
    }
  }

  void look_at(const LogEvent& event) {
    const std::string_view text = event.text;
    if (has(text, "slurmstepd") || has(text, "srun: error") || has(text, "*** STEP ") ||
        has(text, "*** JOB ")) {
      RecoveryEnvironment& found = sign(Kind::kSlurm, "lines of Slurm");
      for (const std::string_view mark : {"*** JOB ", "*** STEP ", "StepId=", "JobId="})
        keep(found.job, slurm_job(word_behind(text, mark)));
    } else if (has(text, ".service: ") && has(text, "Main process exited")) {
      const std::size_t end = text.find(".service: ") + std::string_view(".service").size();
      const std::size_t begin = text.rfind(' ', end) + 1;  // npos + 1 is 0
      keep(sign(Kind::kSystemd, "lines of systemd").unit, text.substr(begin, end - begin));
    } else if (event.kind == LogEventKind::kActorDied || has(text, "(raylet") || has(text, "ray::") ||
               (event.kind == LogEventKind::kOutOfMemoryKill && event.detail == "ray")) {
      sign(Kind::kRay, "lines of Ray");
    } else if (has(text, "closing signal SIG") || has(text, "(first observed failure)") ||
               has(text, "ChildFailedError") || has(text, "failed (exitcode: ") ||
               event.kind == LogEventKind::kRendezvousFailed ||
               (event.kind == LogEventKind::kProcessExit && event.detail == "root")) {
      sign(Kind::kTorchrun, "lines of torchrun's agent");
    } else if (has(text, "kubelet") || has(text, "NodeNotReady") || has(text, "TaintManagerEviction") ||
               (event.kind == LogEventKind::kOrchestratorKill &&
                (event.detail.starts_with("evicted") || has(event.detail, "probe failed")))) {
      sign(Kind::kKubernetes, "events of Kubernetes");
    }
  }

  void look_at_names() {
    for (const model::Rank& rank : x_case.ranks) x_names.push_back(rank.host);
    for (const model::LogOrigin& origin : x_case.logs.origins) x_names.push_back(origin.host);
    for (const model::BundleManifest& bundle : x_case.bundles) x_names.push_back(bundle.host);
    std::sort(x_names.begin(), x_names.end());
    x_names.erase(std::unique(x_names.begin(), x_names.end()), x_names.end());
    std::erase(x_names, std::string());
    for (const std::string& name : x_names) {
      if (safe_name(name).empty()) return;
    }
    for (const std::string& name : x_names) {
      if (!is_of_job_set(name)) continue;
      sign(Kind::kJobSet, "the name of pod " + name);
      if (x_general.pod.empty()) x_general.pod = name;
    }
    std::string group = group_of_all(x_names);
    if (group.empty() && x_found.count(Kind::kLeaderWorkerSet) != 0) {
      for (const std::string& name : x_names) {
        if (group.empty()) group = group_of_worker(name);
      }
    }
    if (!group.empty())
      keep(sign(Kind::kLeaderWorkerSet, "the names of leader and workers of " + group).group, group);
  }

  const model::Case& x_case;
  std::map<Kind, RecoveryEnvironment> x_found;  // outermost first
  RecoveryEnvironment x_general;                // what is true whoever started it
  std::vector<std::string> x_names;             // of hosts and pods
};

}  // namespace

std::string_view name_of(EnvironmentKind value) {
  constexpr std::array<std::string_view, 9> kNames{"lws",        "jobset",  "slurm",  "ray", "torchrun",
                                                   "kubernetes", "systemd", "docker", ""};
  return kNames[static_cast<std::size_t>(value)];
}

RecoveryEnvironment find_environment(const model::Case& joined) {
  return Search(joined).run();
}

}  // namespace unhang::detect
