// SPDX-License-Identifier: Apache-2.0
#include "detect/rebuild_step.h"

#include <string>

namespace unhang::detect {
namespace {

using Kind = EnvironmentKind;

struct Way {
  std::string how;  // what the command does, and where to find what is not known
  std::string command;
};

std::string or_capitals(const std::string& name, const char* capitals) {
  return name.empty() ? capitals : name;
}

std::string of_namespace(const RecoveryEnvironment& environment) {
  return " -n " + or_capitals(environment.name_space, "NAMESPACE");
}

Way leader_worker_set(const RecoveryEnvironment& environment) {
  Way out{
      "without its leader pod LeaderWorkerSet makes all pods of the group anew (restartPolicy "
      "RecreateGroupOnPodRestart)",
      "kubectl delete pod" + of_namespace(environment) + " " + or_capitals(environment.group, "LEADER_POD")};
  if (environment.group.empty() || environment.name_space.empty())
    out.how += "; to find it: kubectl get pods -A -l leaderworkerset.sigs.k8s.io/worker-index=0";
  return out;
}

Way job_set(const RecoveryEnvironment& environment) {
  Way out{"a deleted and recreated JobSet starts all its pods anew",
          "kubectl get jobset" + of_namespace(environment) + " " + or_capitals(environment.job, "JOBSET") +
              " -o yaml | kubectl replace --force -f -"};
  if (environment.job.empty() || environment.name_space.empty())
    out.how += environment.pod.empty()
                   ? std::string("; to find it: kubectl get jobsets -A")
                   : "; to find it: kubectl get jobsets -A; " + environment.pod + " is one of its pods";
  return out;
}

Way slurm(const RecoveryEnvironment& environment) {
  Way out{"requeue ends all steps and starts the job again (where it may not be requeued: scancel, sbatch)",
          "scontrol requeue " + or_capitals(environment.job, "JOBID")};
  if (environment.job.empty()) out.how += "; JOBID: squeue --me";
  return out;
}

Way kubernetes(const RecoveryEnvironment& environment) {
  return {
      "delete all its pods together, then their controller makes them anew; SELECTOR: the labels that "
      "they share (kubectl get pods --show-labels)",
      "kubectl delete pods" + of_namespace(environment) + " -l SELECTOR"};
}

Way way_of(const RecoveryEnvironment& environment) {
  switch (environment.kind) {
    case Kind::kLeaderWorkerSet:
      return leader_worker_set(environment);
    case Kind::kJobSet:
      return job_set(environment);
    case Kind::kSlurm:
      return slurm(environment);
    case Kind::kRay:
      return {
          "stop the whole Ray job, its actors and placement group go with it, then submit it again (of Ray "
          "Serve: serve deploy CONFIG); SUBMISSION_ID: ray job list",
          "ray job stop SUBMISSION_ID"};
    case Kind::kTorchrun:
      return {
          "end torchrun on all nodes, then start it on all of them with the same command; AGENT_PID, on "
          "each node: pgrep -af 'torchrun|torch.distributed.run'",
          "kill -TERM AGENT_PID"};
    case Kind::kKubernetes:
      return kubernetes(environment);
    case Kind::kSystemd:
      return {environment.unit.empty() ? "on all its hosts at once; UNIT: systemctl status PID of a worker"
                                       : "on all its hosts at once",
              "systemctl restart " + or_capitals(environment.unit, "UNIT")};
    case Kind::kDocker:
      return {"restart all containers of the group, on all its hosts (of Compose: docker compose restart)" +
                  std::string(environment.container.empty() ? "; CONTAINERS: docker ps" : ""),
              "docker restart " + or_capitals(environment.container, "CONTAINERS")};
    case Kind::kUnknown:
      break;
  }
  return {"the others cannot take it back", ""};
}

}  // namespace

model::RecoveryStep rebuild_step(const RecoveryEnvironment& environment) {
  Way way = way_of(environment);
  return {"restart the whole process group, not one rank: " + way.how, std::move(way.command), true};
}

}  // namespace unhang::detect
