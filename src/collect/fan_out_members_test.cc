// SPDX-License-Identifier: Apache-2.0
#include "collect/fan_out_members.h"

#include <gtest/gtest.h>

#include "collect/fake_programs_for_tests.h"

namespace unhang::collect {
namespace {

using Names = std::vector<std::string>;

Names names_of(std::string_view list) {
  auto names = parse_host_list(list);
  return names ? *names : Names{"error: " + names.error().message};
}

TEST(HostList, IsReadAsPeopleAndSlurmWriteIt) {
  EXPECT_EQ(names_of("a,b , a,"), (Names{"a", "b"}));
  EXPECT_EQ(names_of("node[01-03,7]"), (Names{"node01", "node02", "node03", "node7"}));
  EXPECT_EQ(names_of("r[1-2]-n[8-9].x,me@login"),
            (Names{"r1-n8.x", "r1-n9.x", "r2-n8.x", "r2-n9.x", "me@login"}));
  EXPECT_EQ(names_of("gpu[099-101]"), (Names{"gpu099", "gpu100", "gpu101"}));
  EXPECT_EQ(names_of("10.0.0.7,fe80::1"), (Names{"10.0.0.7", "fe80::1"}));
  EXPECT_EQ(names_of(""), Names{});
}

TEST(HostList, RefusesWhatCouldBeAnythingElse) {
  for (const std::string list : {"-oProxyCommand=x", "a;reboot", "a b", "$(id)", "a`id`", "a/b", "a'b",
                                 "node[1-", "node[]", "node[3-1]", "node[x]", "node[1-99999999999]", "a\nb",
                                 "n[1-999999999]", "@/no/such/file", "@/dev/zero", "node]1"}) {
    EXPECT_TRUE(names_of(list).front().starts_with("error: ")) << list;
  }
}

class Members : public ::testing::Test, protected fixture::FakePrograms {
 protected:
  base::Result<std::vector<Member>> find(const MemberSelection& selection) const {
    return find_members(selection, programs(), std::chrono::steady_clock::now() + std::chrono::seconds(60));
  }
};

TEST_F(Members, AFileHasAListInEachLine) {
  put("hosts", "# the rack\na slots=8\nb[1-2]  # two\n\nc:8\n");
  EXPECT_EQ(names_of("@" + (x_folder / "hosts").string()), (Names{"a", "b1", "b2", "c:8"}));
  put("loop", "@hosts\n");
  EXPECT_TRUE(names_of("@" + (x_folder / "loop").string()).front().starts_with("error: "));
}

constexpr std::string_view kPods = R"({"items": [
  {"metadata": {"name": "serve-1", "namespace": "prod"}, "status": {"phase": "Pending"},
   "spec": {"containers": [{"name": "main"}]}},
  {"metadata": {"name": "serve-0", "namespace": "prod"}, "status": {"phase": "Running"},
   "spec": {"containers": [{"name": "proxy"}, {"name": "vllm", "resources": {"limits": {"nvidia.com/gpu": "8"}}}]}},
  {"metadata": {"name": "serve-2", "namespace": "prod",
                "annotations": {"kubectl.kubernetes.io/default-container": "app"}},
   "status": {"phase": "Running"}, "spec": {"containers": [{"name": "proxy"}, {"name": "app"}]}}]})";

TEST(PodsOfJson, AreNamedWithTheContainerThatHasTheGpus) {
  const auto pods = pods_of_json(kPods);
  ASSERT_TRUE(pods);
  ASSERT_EQ(pods->size(), 3U);
  EXPECT_EQ((*pods)[0].name + "/" + (*pods)[0].container, "serve-0/vllm");
  EXPECT_EQ((*pods)[0].scope, "prod");
  EXPECT_EQ((*pods)[0].trouble, "");
  EXPECT_EQ((*pods)[1].name + "/" + (*pods)[1].container, "serve-1/main");
  EXPECT_EQ((*pods)[1].trouble, "not asked: the pod is Pending");
  EXPECT_EQ((*pods)[2].container, "app");
}

TEST(PodsOfJson, AStrangeAnswerIsNone) {
  for (const std::string_view json : {"", "[]", "{", R"({"items": {}})", R"({"items": [1]})",
                                      R"({"items": [{"metadata": {"name": "-x"}}]})"})
    EXPECT_FALSE(pods_of_json(json)) << json;
  EXPECT_TRUE(pods_of_json(R"({"items": []})")->empty());
}

TEST_F(Members, PodsAreAskedByTheirLabels) {
  program("kubectl",
          R"(echo "$*" >&2; [ "$*" = "get pods -o json --selector=app=x --namespace=prod" ] || exit 1
echo '{"items": [{"metadata": {"name": "p"}, "status": {"phase": "Running"}, "spec": {"containers": [{"name": "c"}]}}]}')");
  const auto found = find({.hosts = {}, .pods = "app=x", .slurm = {}, .pod_namespace = "prod"});
  ASSERT_TRUE(found) << found.error().message;
  ASSERT_EQ(found->size(), 1U);
  EXPECT_EQ(found->front().scope, "prod");
  const auto refused = find({.hosts = {}, .pods = "app=y", .slurm = {}, .pod_namespace = {}});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, base::ErrorCode::kUnavailable);
  EXPECT_EQ(find({.hosts = {}, .pods = "a", .slurm = {}, .pod_namespace = "-x"}).error().code,
            base::ErrorCode::kUsage);
}

TEST_F(Members, TheNodesOfAJobComeFromSqueue) {
  program("squeue", R"(case "$*" in *--jobs=42) echo "gpu[1-2]";; esac)");
  const auto found = find({.hosts = {}, .pods = {}, .slurm = "42", .pod_namespace = {}});
  ASSERT_TRUE(found) << found.error().message;
  ASSERT_EQ(found->size(), 2U);
  EXPECT_EQ((*found)[1].name, "gpu2");
  EXPECT_EQ((*found)[1].scope, "42");
  const auto gone = find({.hosts = {}, .pods = {}, .slurm = "43", .pod_namespace = {}});
  ASSERT_FALSE(gone);
  EXPECT_EQ(gone.error().message, "the job 43 does not run on any node; see: squeue -j 43");
  EXPECT_FALSE(find({.hosts = {}, .pods = {}, .slurm = "4;2", .pod_namespace = {}}));
}

TEST_F(Members, WithoutTheProgramItSaysSo) {
  const auto found = find({.hosts = {}, .pods = "app=x", .slurm = {}, .pod_namespace = {}});
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().message, "kubectl is not installed here (not found in PATH)");
}

}  // namespace
}  // namespace unhang::collect
