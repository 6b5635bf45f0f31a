// SPDX-License-Identifier: Apache-2.0
//
// Each kind of step by itself: what it says, and when it must not be there.
#include <gtest/gtest.h>

#include "detect/evidence_first.h"
#include "detect/log_case_for_tests.h"
#include "detect/node_isolation.h"
#include "detect/rebuild_step.h"
#include "detect/recovery_level.h"
#include "detect/retest_list.h"
#include "detect/workaround.h"

namespace unhang::detect {
namespace {

using Kind = EnvironmentKind;
using model::Category;
using model::Confidence;
using model::RecoveryLevel;
using model::State;

model::Subject subject(std::int32_t rank, std::string host) {
  model::Subject out;
  out.rank = rank;
  out.host = std::move(host);
  return out;
}

model::Verdict verdict(Category category, std::string_view cause, State state = State::kStopped,
                       Confidence confidence = Confidence::kMedium) {
  model::Verdict out;
  out.category = category;
  out.cause = cause;
  out.state = state;
  out.confidence = confidence;
  const model::CauseInfo* info = model::find_cause(cause);
  if (info != nullptr) out.fault_domain = info->fault_domain;
  return out;
}

model::Verdict xid_on(const std::vector<std::string>& hosts) {
  model::Verdict out = verdict(Category::kProcessOrDeviceUnavailable, "gpu_xid");
  for (std::size_t i = 0; i < hosts.size(); ++i)
    out.culprits.push_back(subject(static_cast<std::int32_t>(i), hosts[i]));
  return out;
}

RecoveryEnvironment environment(Kind kind) {
  RecoveryEnvironment out;
  out.kind = kind;
  return out;
}

std::string rebuilt(const RecoveryEnvironment& environment) {
  const model::RecoveryStep step = rebuild_step(environment);
  EXPECT_TRUE(step.changes_the_world);
  EXPECT_NE(step.why.find("not one rank"), std::string::npos);
  return step.command;
}

TEST(RebuildStep, HasTheCommandOfTheEnvironment) {
  RecoveryEnvironment lws = environment(Kind::kLeaderWorkerSet);
  lws.group = "llama-0";
  lws.name_space = "prod";
  EXPECT_EQ(rebuilt(lws), "kubectl delete pod -n prod llama-0");
  RecoveryEnvironment jobset = environment(Kind::kJobSet);
  jobset.job = "train";
  jobset.name_space = "ml";
  EXPECT_EQ(rebuilt(jobset), "kubectl get jobset -n ml train -o yaml | kubectl replace --force -f -");
  RecoveryEnvironment slurm = environment(Kind::kSlurm);
  slurm.job = "4711";
  EXPECT_EQ(rebuilt(slurm), "scontrol requeue 4711");
  RecoveryEnvironment systemd = environment(Kind::kSystemd);
  systemd.unit = "vllm.service";
  EXPECT_EQ(rebuilt(systemd), "systemctl restart vllm.service");
  RecoveryEnvironment docker = environment(Kind::kDocker);
  docker.container = "vllm";
  EXPECT_EQ(rebuilt(docker), "docker restart vllm");
  EXPECT_EQ(rebuilt(environment(Kind::kRay)), "ray job stop SUBMISSION_ID");
  EXPECT_EQ(rebuilt(environment(Kind::kTorchrun)), "kill -TERM AGENT_PID");
  EXPECT_EQ(rebuilt(environment(Kind::kUnknown)), "");
}

TEST(RebuildStep, SaysWhereToFindWhatIsNotKnown) {
  for (const Kind kind : {Kind::kLeaderWorkerSet, Kind::kJobSet, Kind::kSlurm, Kind::kRay, Kind::kTorchrun,
                          Kind::kKubernetes, Kind::kSystemd, Kind::kDocker}) {
    const model::RecoveryStep step = rebuild_step(environment(kind));
    const bool tells =
        step.why.find("to find it: ") != std::string::npos || step.why.find("JOBID: ") != std::string::npos ||
        step.why.find("SUBMISSION_ID: ") != std::string::npos ||
        step.why.find("AGENT_PID, on each node: ") != std::string::npos ||
        step.why.find("SELECTOR: ") != std::string::npos || step.why.find("UNIT: ") != std::string::npos ||
        step.why.find("CONTAINERS: ") != std::string::npos;
    EXPECT_TRUE(tells) << name_of(kind) << ": " << step.why;
  }
}

TEST(Isolation, OnlyACauseThatTheCatalogueMarks) {
  EXPECT_EQ(judge_isolation(xid_on({"gpu-b07"})).hosts, std::vector<std::string>{"gpu-b07"});
  model::Verdict late = verdict(Category::kCollectiveDesync, "rank_not_entered");
  late.culprits = {subject(5, "gpu-b07")};
  EXPECT_FALSE(judge_isolation(late).asked_for);
  model::Verdict program = xid_on({"gpu-b07"});  // Xid 31: the program's own doing
  program.root = "application_error";
  EXPECT_FALSE(judge_isolation(program).asked_for);
  model::Verdict unsure = xid_on({"gpu-b07"});
  unsure.confidence = Confidence::kLow;
  EXPECT_FALSE(judge_isolation(unsure).asked_for);
}

TEST(Isolation, AVictimsMachineStays) {
  model::Verdict v = xid_on({"gpu-b07"});
  v.victims = {subject(3, "gpu-a01")};
  EXPECT_EQ(judge_isolation(v).hosts, std::vector<std::string>{"gpu-b07"});
}

TEST(Isolation, OneMachineOfSeveralSuspectDevicesIsKnown) {
  model::Verdict v = verdict(Category::kProcessOrDeviceUnavailable, "gpu_xid");
  v.suspects = {subject(1, "gpu-b07"), subject(2, "gpu-b07")};
  EXPECT_EQ(judge_isolation(v).hosts, std::vector<std::string>{"gpu-b07"});
  v.suspects.push_back(subject(3, "gpu-a01"));
  EXPECT_TRUE(judge_isolation(v).hosts.empty());
}

TEST(Isolation, TheSameFaultOnManyIsAMatterOfTheCluster) {
  const model::Verdict v = xid_on({"a", "b", "c"});
  const NodeIsolation isolation = judge_isolation(v);
  EXPECT_TRUE(isolation.on_many);
  EXPECT_TRUE(isolation.hosts.empty());
  EXPECT_EQ(recovery_level(v, isolation), RecoveryLevel::kCluster);
  std::vector<model::RecoveryStep> steps;
  add_isolation_step({}, v, environment(Kind::kSlurm), isolation, steps);
  ASSERT_EQ(steps.size(), 1u);
  EXPECT_FALSE(steps[0].changes_the_world);
  EXPECT_TRUE(steps[0].why.starts_with("isolate nobody: 3 machines")) << steps[0].why;
}

std::string isolated(const model::Case& joined, const model::Verdict& v, const RecoveryEnvironment& where) {
  std::vector<model::RecoveryStep> steps;
  add_isolation_step(joined, v, where, judge_isolation(v), steps);
  return steps.size() == 1 ? steps[0].command : "no single step";
}

TEST(Isolation, CordonsOrDrains) {
  const model::Verdict v = xid_on({"gpu-a01", "gpu-b07"});
  EXPECT_EQ(isolated({}, v, environment(Kind::kSlurm)),
            "scontrol update NodeName=gpu-a01,gpu-b07 State=DRAIN Reason=\"unhang: gpu_xid\"");
  EXPECT_EQ(isolated({}, v, environment(Kind::kKubernetes)), "kubectl cordon gpu-a01 gpu-b07");
  EXPECT_EQ(isolated({}, v, environment(Kind::kSystemd)), "");
}

TEST(Isolation, WhereTheMachineHasNoNameTheFileTells) {
  model::Verdict v = verdict(Category::kProcessOrDeviceUnavailable, "gpu_fallen_off_bus");
  v.culprits.emplace_back().evidence = {0};
  v.evidence.emplace_back().file = "/mnt/incident/b07/dmesg.log";
  std::vector<model::RecoveryStep> steps;
  add_isolation_step({}, v, environment(Kind::kUnknown), judge_isolation(v), steps);
  ASSERT_EQ(steps.size(), 1u);
  EXPECT_EQ(steps[0].why,
            "take the machine that wrote b07/dmesg.log out of service, gpu_fallen_off_bus is a fault of the "
            "machine: leave it out of the job's list of hosts");
  EXPECT_EQ(isolated({}, v, environment(Kind::kSlurm)),
            "scontrol update NodeName=NODE State=DRAIN Reason=\"unhang: gpu_fallen_off_bus\"");
}

TEST(Isolation, APodIsNoNode) {
  RecoveryEnvironment lws = environment(Kind::kLeaderWorkerSet);
  lws.name_space = "prod";
  const model::Verdict v = xid_on({"llama-0-1"});
  std::vector<model::RecoveryStep> steps;
  add_isolation_step({}, v, lws, judge_isolation(v), steps);
  ASSERT_EQ(steps.size(), 1u);
  EXPECT_EQ(steps[0].command, "kubectl cordon NODE");
  EXPECT_NE(steps[0].why.find("NODE: kubectl get pod llama-0-1 -n prod -o wide"), std::string::npos)
      << steps[0].why;
  model::Case joined;
  joined.identities.push_back({3,
                               {{model::IdentityKey::kPod, "llama-0-1", "label", {}},
                                {model::IdentityKey::kNode, "gpu-b07", "label", {}}}});
  EXPECT_EQ(isolated(joined, v, lws), "kubectl cordon gpu-b07");
}

TEST(RecoveryLevel, FollowsTheStateFirst) {
  const NodeIsolation nobody;
  const NodeIsolation one = judge_isolation(xid_on({"gpu-b07"}));
  for (const State state : {State::kAdvancing, State::kSlow, State::kIdle, State::kStarting})
    EXPECT_EQ(recovery_level(verdict(Category::kProcessOrDeviceUnavailable, "gpu_xid", state), one),
              RecoveryLevel::kNone);
  for (const State state : {State::kStopped, State::kDead}) {
    EXPECT_EQ(recovery_level(verdict(Category::kInconclusive, "unknown", state, Confidence::kLow), nobody),
              RecoveryLevel::kProcessGroup);
    EXPECT_EQ(recovery_level(verdict(Category::kProcessOrDeviceUnavailable, "gpu_xid", state), one),
              RecoveryLevel::kNode);
  }
  EXPECT_EQ(
      recovery_level(verdict(Category::kInconclusive, "unknown", State::kUnknown, Confidence::kLow), nobody),
      RecoveryLevel::kNone);
  EXPECT_EQ(recovery_level(verdict(Category::kHealthy, "unknown"), nobody), RecoveryLevel::kNone);
}

TEST(EvidenceFirst, OnlyWhereTheJobMayStillStand) {
  const auto step = [](const model::Case& joined, const model::Verdict& v, const RecoveryEnvironment& where) {
    std::vector<model::RecoveryStep> steps;
    add_evidence_step(joined, v, where, steps);
    return steps.empty() ? std::string() : steps[0].command;
  };
  const model::Verdict stopped = verdict(Category::kInconclusive, "unknown");
  model::Case joined;
  EXPECT_EQ(step(joined, stopped, {}), "unhang capture");
  EXPECT_EQ(step(joined, verdict(Category::kInconclusive, "unknown", State::kDead), {}), "");
  EXPECT_EQ(step(joined, verdict(Category::kPerformanceDegradation, "straggler_rank", State::kSlow), {}), "");
  joined.ranks.emplace_back().host = "gpu-b07";
  joined.ranks.emplace_back().host = "gpu-a01";
  EXPECT_EQ(step(joined, stopped, {}), "unhang capture --hosts gpu-a01,gpu-b07");
  joined.ranks.emplace_back();  // where it runs is not known
  EXPECT_EQ(step(joined, stopped, {}), "unhang capture");
  RecoveryEnvironment slurm = environment(Kind::kSlurm);
  slurm.job = "4711";
  EXPECT_EQ(step(joined, stopped, slurm), "unhang capture --slurm 4711");
  RecoveryEnvironment lws = environment(Kind::kLeaderWorkerSet);
  lws.group = "llama-0";
  lws.name_space = "prod";
  EXPECT_EQ(step(joined, stopped, lws),
            "unhang capture --pods leaderworkerset.sigs.k8s.io/name=llama -n prod");
  joined.bundles.emplace_back();  // somebody has captured it
  EXPECT_EQ(step(joined, stopped, slurm), "");
  LogCase ended;
  ended.says(model::LogEventKind::kProcessExit, {.code = -9});
  EXPECT_EQ(step(ended.joined(), stopped, {}), "");
  LogCase given_up;
  given_up.give_up({0, 1});
  EXPECT_EQ(step(given_up.joined(), stopped, {}), "");
}

TEST(Retest, MachinesAdaptersAndPairs) {
  EXPECT_EQ(retest_list(xid_on({"gpu-b07"})), std::vector<std::string>{"gpu-b07"});
  model::Verdict link = verdict(Category::kTransportStall, "ib_retry_exceeded");
  link.culprits = {subject(5, "gpu-b07")};
  link.culprits[0].nic = "mlx5_2";
  EXPECT_EQ(retest_list(link), std::vector<std::string>{"gpu-b07/mlx5_2"});
  model::Verdict pair = verdict(Category::kTransportStall, "peer_unreachable");
  pair.culprits = {subject(5, "gpu-b07"), subject(1, "gpu-a01")};
  pair.culprits[0].peer = 1;
  pair.culprits[1].peer = 5;
  EXPECT_EQ(retest_list(pair), std::vector<std::string>{"gpu-a01 and gpu-b07"});
  // A program's mistake leaves nothing to test.
  model::Verdict late = verdict(Category::kCollectiveDesync, "op_mismatch");
  late.culprits = {subject(5, "gpu-b07")};
  EXPECT_TRUE(retest_list(late).empty());
}

TEST(Retest, HasACommand) {
  std::vector<model::RecoveryStep> steps;
  const model::Verdict gpu = xid_on({"gpu-b07"});
  add_retest_step(gpu, environment(Kind::kUnknown), {}, steps);
  EXPECT_TRUE(steps.empty());
  add_retest_step(gpu, environment(Kind::kUnknown), {"gpu-b07"}, steps);
  add_retest_step(gpu, environment(Kind::kSlurm), {"gpu-b07"}, steps);
  const model::Verdict link = verdict(Category::kTransportStall, "ib_retry_exceeded");
  add_retest_step(link, environment(Kind::kUnknown), {"gpu-b07/mlx5_2"}, steps);
  ASSERT_EQ(steps.size(), 3u);
  EXPECT_EQ(steps[0].command, "dcgmi diag -r 3");
  EXPECT_EQ(steps[1].command, "srun -N1 -w gpu-b07 --ntasks-per-node=1 dcgmi diag -r 3");
  EXPECT_EQ(steps[2].command,
            "mpirun --map-by ppr:8:node -H GOOD_HOST,gpu-b07 all_reduce_perf -b 8 -e 1G -f 2 -g 1 -c 1");
}

TEST(Workaround, IsCalledOneBesideTheTrueFix) {
  std::vector<model::RecoveryStep> steps;
  add_workaround(verdict(Category::kTransportStall, "p2p_blocked_by_iommu_or_acs"), steps);
  ASSERT_EQ(steps.size(), 1u);
  EXPECT_EQ(steps[0].command, "export NCCL_P2P_DISABLE=1");
  EXPECT_TRUE(steps[0].why.starts_with("workaround")) << steps[0].why;
  EXPECT_NE(steps[0].why.find("iommu=pt"), std::string::npos);
  EXPECT_TRUE(steps[0].changes_the_world);
  steps.clear();
  add_workaround(verdict(Category::kCollectiveDesync, "rank_not_entered"), steps);
  EXPECT_TRUE(steps.empty());
}

}  // namespace
}  // namespace unhang::detect
