// SPDX-License-Identifier: Apache-2.0
#include "detect/recovery_environment.h"

#include <gtest/gtest.h>

#include "detect/log_case_for_tests.h"
#include "detect/pod_name.h"

namespace unhang::detect {
namespace {

using Kind = EnvironmentKind;
using model::LogEventKind;
using Variables = std::vector<std::pair<std::string, std::string>>;

model::Case with_process(Variables environment, std::string name = "python3") {
  model::Case joined;
  model::BundleManifest& bundle = joined.bundles.emplace_back();
  bundle.host = "gpu-b07";
  model::BundleProcess& process = bundle.processes.emplace_back();
  process.pid = 412;
  process.name = std::move(name);
  process.environment = std::move(environment);
  return joined;
}

model::Case with_hosts(const std::vector<std::string>& hosts) {
  model::Case joined;
  for (const std::string& host : hosts) joined.ranks.emplace_back().host = host;
  return joined;
}

model::Case with_scheduler_file(std::string note) {
  model::Case joined;
  model::BundleSource& source = joined.bundles.emplace_back().sources.emplace_back();
  source.kind = "scheduler";
  source.files.emplace_back().note = std::move(note);
  return joined;
}

TEST(RecoveryEnvironment, LeaderWorkerSetByItsVariables) {
  const auto found = find_environment(
      with_process({{"LWS_GROUP_SIZE", "2"}, {"LWS_LEADER_ADDRESS", "llama-0.llama.prod"}, {"RANK", "3"}}));
  EXPECT_EQ(name_of(found.kind), "lws");
  EXPECT_EQ(found.group, "llama-0");
  EXPECT_EQ(found.name_space, "prod");
  EXPECT_EQ(found.basis, "LWS_GROUP_SIZE of process 412 on gpu-b07");
}

TEST(RecoveryEnvironment, LeaderWorkerSetByTheNamesOfItsPods) {
  EXPECT_EQ(find_environment(with_hosts({"llama-0", "llama-0-1", "llama-0-2"})).group, "llama-0");
  // Machines have such names, too: without a leader, with a gap, or beside others it is none.
  for (const auto& hosts : {std::vector<std::string>{"rack-1-1", "rack-1-2"},
                            {"rack-1", "rack-1-2"},
                            {"rack-1", "rack-1-1", "login"},
                            {"gpu-07", "gpu-07-1"},
                            {"node1", "node2"}})
    EXPECT_EQ(find_environment(with_hosts(hosts)).kind, Kind::kUnknown) << hosts[0];
}

TEST(RecoveryEnvironment, JobSet) {
  const auto found =
      find_environment(with_process({{"JOBSET_NAME", "train"}, {"JOB_COMPLETION_INDEX", "1"}}));
  EXPECT_EQ(name_of(found.kind), "jobset");
  EXPECT_EQ(found.job, "train");
  EXPECT_EQ(find_environment(with_hosts({"train-workers-0-1-x7k2p"})).kind, Kind::kJobSet);
  EXPECT_EQ(find_environment(with_hosts({"train-workers-0-1-x7k2p"})).pod, "train-workers-0-1-x7k2p");
  EXPECT_EQ(find_environment(with_hosts({"gpu-rack-0-1-seven"})).kind, Kind::kUnknown);
}

TEST(RecoveryEnvironment, Slurm) {
  EXPECT_EQ(find_environment(with_process({{"SLURM_JOB_ID", "4711"}})).job, "4711");
  EXPECT_EQ(find_environment(with_process({{"SLURM_JOB_ID", "$(reboot)"}})).job, "");
  const auto asked = find_environment(with_scheduler_file("scontrol show job -d 4711_3"));
  EXPECT_EQ(asked.kind, Kind::kSlurm);
  EXPECT_EQ(asked.job, "4711_3");
  LogCase log;
  log.says(
      LogEventKind::kProcessSignalled,
      {.code = 15, .text = "slurmstepd: error: *** STEP 93.0 ON node1 CANCELLED AT 2026-01-02T03:04:05 ***"});
  EXPECT_EQ(find_environment(log.joined()).kind, Kind::kSlurm);
  EXPECT_EQ(find_environment(log.joined()).job, "93");
}

TEST(RecoveryEnvironment, Ray) {
  EXPECT_EQ(find_environment(with_process({{"RAY_JOB_ID", "01000000"}})).kind, Kind::kRay);
  EXPECT_EQ(find_environment(with_process({}, "ray::RayWorkerWrapper")).kind, Kind::kRay);
  LogCase log;
  log.by({.label = "RayWorkerWrapper"}).says(LogEventKind::kNcclError);
  EXPECT_EQ(find_environment(log.joined()).kind, Kind::kRay);
  LogCase engine;  // of vLLM without Ray
  engine.by({.label = "Worker_TP1"}).says(LogEventKind::kNcclError);
  EXPECT_EQ(find_environment(engine.joined()).kind, Kind::kUnknown);
}

TEST(RecoveryEnvironment, Torchrun) {
  EXPECT_EQ(find_environment(with_process({{"TORCHELASTIC_RUN_ID", "none"}})).kind, Kind::kTorchrun);
  EXPECT_EQ(find_environment(with_process({{"RANK", "3"}, {"WORLD_SIZE", "8"}})).kind, Kind::kUnknown);
  LogCase log;
  log.says(LogEventKind::kProcessSignalled, {.code = 15, .text = "Sending process 7 closing signal SIGTERM"});
  EXPECT_EQ(find_environment(log.joined()).kind, Kind::kTorchrun);
}

TEST(RecoveryEnvironment, TheOutermostIsTheOneThatStartsAllAgain) {
  EXPECT_EQ(
      find_environment(
          with_process({{"INVOCATION_ID", "00"}, {"SLURM_JOB_ID", "12"}, {"TORCHELASTIC_RUN_ID", "12"}}))
          .kind,
      Kind::kSlurm);
  EXPECT_EQ(find_environment(with_process({{"LWS_GROUP_SIZE", "2"}, {"RAY_JOB_ID", "01"}})).kind,
            Kind::kLeaderWorkerSet);
}

TEST(RecoveryEnvironment, SystemdByItsLines) {
  LogCase log;
  log.says(LogEventKind::kProcessExit,
           {.code = -9, .text = "vllm@tp8.service: Main process exited, code=killed, status=9/KILL"});
  EXPECT_EQ(find_environment(log.joined()).kind, Kind::kSystemd);
  EXPECT_EQ(find_environment(log.joined()).unit, "vllm@tp8.service");
  EXPECT_EQ(find_environment(with_process({{"INVOCATION_ID", "8f"}})).kind, Kind::kSystemd);
}

TEST(RecoveryEnvironment, KubernetesAndContainers) {
  model::Case joined;
  model::BundleSource& source = joined.bundles.emplace_back().sources.emplace_back();
  source.kind = "member";
  source.asked = "pod prod/vllm-7c9, container vllm";
  const auto found = find_environment(joined);
  EXPECT_EQ(found.kind, Kind::kKubernetes);
  EXPECT_EQ(found.name_space, "prod");
  EXPECT_EQ(found.pod, "vllm-7c9");
  const auto asked = find_environment(
      with_scheduler_file("kubectl get pod vllm-7c9 -n prod --request-timeout=6s -o jsonpath={.status}"));
  EXPECT_EQ(asked.pod, "vllm-7c9");
  EXPECT_EQ(asked.name_space, "prod");
  model::Case container = with_process({});
  container.bundles[0].processes[0].namespace_pids = {88121, 412};
  EXPECT_EQ(find_environment(container).kind, Kind::kDocker);
  EXPECT_EQ(find_environment(with_process({})).kind, Kind::kUnknown);
}

TEST(RecoveryEnvironment, WhatIsNoNameStaysOutOfCommands) {
  const auto found =
      find_environment(with_process({{"LWS_LEADER_ADDRESS", "a;rm -rf /.x.y"}, {"LWS_GROUP_SIZE", "2"}}));
  EXPECT_EQ(found.kind, Kind::kLeaderWorkerSet);
  EXPECT_EQ(found.group, "");
}

TEST(PodName, WorkersOfAGroup) {
  EXPECT_EQ(group_of_worker("llama-0-3"), "llama-0");
  for (const char* other : {"llama-0", "llama-0-0", "llama-x-3", "gpu-07", "", "-1-2", "llama-0-999999"})
    EXPECT_EQ(group_of_worker(other), "") << other;
}

}  // namespace
}  // namespace unhang::detect
