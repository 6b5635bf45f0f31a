// SPDX-License-Identifier: Apache-2.0
#include "collect/scheduler_source.h"

#include <gtest/gtest.h>

#include "collect/fake_programs_for_tests.h"

namespace unhang::collect {
namespace {

using Status = model::SourceStatus;

class SchedulerSourceTest : public ::testing::Test, protected fixture::FakePrograms {
 protected:
  SchedulerSourceTest() {
    x_place.programs = programs();
    x_place.account = x_folder / "account";
    x_place.pod = "vllm-0";
  }
  SourceOutcome run() { return run_alone(scheduler_source("scheduler", x_place, x_names)); }

  SchedulerPlace x_place;
};

TEST_F(SchedulerSourceTest, NothingIsAskedOutsideOfPodsAndJobs) {
  program("kubectl", "echo asked");
  program("scontrol", "echo asked");
  const auto outcome = run();
  EXPECT_EQ(outcome.status, Status::kMissing);
  EXPECT_EQ(outcome.reason, "neither in a pod with an account nor in a job of Slurm");
  EXPECT_TRUE(x_files.empty());
}

TEST_F(SchedulerSourceTest, InAPodEventsAndItsState) {
  put("account/namespace", "prod");
  put("account/token", "secret-token");
  program("kubectl",
          "case \"$2\" in events) echo '2026-11-29T15:01:29Z Warning BackOff --token=abc123';; *) echo "
          "\"$*\";; esac");
  const auto outcome = run();
  EXPECT_EQ(outcome.status, Status::kAnswered) << outcome.reason;
  EXPECT_EQ(kept("scheduler", "kubernetes-events.log"),
            "2026-11-29T15:01:29Z Warning BackOff --token=(removed)\n");
  EXPECT_EQ(kept("scheduler", "kubernetes-pods.txt"), "get pods -n prod --request-timeout=6s -o wide\n");
  EXPECT_EQ(kept("scheduler", "kubernetes-pod-status.txt"),
            "get pod vllm-0 -n prod --request-timeout=6s -o jsonpath={.status}\n");
  for (const auto& file : x_files)
    EXPECT_EQ(content(x_bundle / file.path).find("secret-token"), std::string::npos);
}

TEST_F(SchedulerSourceTest, InAPodWithoutKubectlOrRights) {
  put("account/namespace", "prod");
  put("account/token", "secret-token");
  auto outcome = run();
  EXPECT_EQ(outcome.status, Status::kMissing);
  EXPECT_EQ(outcome.reason, "kubectl: not installed");
  std::filesystem::remove_all(x_bundle);
  program("kubectl", "echo 'Error from server (Forbidden): events is forbidden' >&2; exit 1");
  outcome = run();
  EXPECT_EQ(outcome.status, Status::kRefused);
  EXPECT_EQ(outcome.reason, "kubectl: Error from server (Forbidden): events is forbidden (exit status 1)");
}

TEST_F(SchedulerSourceTest, ANamespaceThatIsAnOptionIsNotAsked) {
  put("account/namespace", "-A");
  put("account/token", "x");
  program("kubectl", "echo asked");
  EXPECT_EQ(run().status, Status::kMissing);
  EXPECT_TRUE(x_files.empty());
}

TEST_F(SchedulerSourceTest, OfAJobItsStateWithoutItsCommand) {
  x_place.jobs = {"4711", "--help"};
  program("scontrol",
          "echo 'JobId=4711 JobName=x'; echo '   Command=/home/u/run.sh --api-key=abc'; echo \"$*\"");
  program("sacct", "echo 'JobID|State'");
  const auto outcome = run();
  EXPECT_EQ(outcome.status, Status::kAnswered) << outcome.reason;
  EXPECT_EQ(kept("scheduler", "slurm-job-4711.txt"), "JobId=4711 JobName=x\nshow job -d 4711\n");
  EXPECT_EQ(kept("scheduler", "slurm-steps-4711.txt"), "JobID|State\n");
  EXPECT_EQ(x_files.size(), 2u);
}

TEST(SlurmJob, OnlyNumbers) {
  for (const char* job : {"4711", "4711_3", "4711+1", "4711.0"}) EXPECT_TRUE(is_slurm_job(job)) << job;
  for (const char* job : {"", "-a", "_1", "4711 -a", "4711;ls"}) EXPECT_FALSE(is_slurm_job(job)) << job;
}

}  // namespace
}  // namespace unhang::collect
