// SPDX-License-Identifier: Apache-2.0
#include "join/host_names.h"

#include <gtest/gtest.h>

#include "join/host_of_path.h"

namespace unhang::join {
namespace {

TEST(HostNames, UnitesLongAndShortOnlyWhereOneLongNameFits) {
  HostNames names;
  for (const char* name :
       {"gpu-b07", "gpu-b07.cluster.example", "gpu-b08.one.example", "gpu-b08.two.example", "gpu-b08"})
    names.add(name);
  names.settle();
  EXPECT_EQ(names.name_for("gpu-b07.cluster.example"), "gpu-b07");
  EXPECT_EQ(names.name_for("gpu-b08.one.example"), "gpu-b08.one.example");
  EXPECT_EQ(names.name_for("gpu-b08"), "gpu-b08");
  EXPECT_EQ(names.name_for("never-heard-of"), "never-heard-of");
}

TEST(HostNames, AnAddressThatTwoMachinesClaimIsNobodys) {
  HostNames names;
  names.same("a", "10.0.0.1");
  names.same("a", "172.17.0.1");
  names.same("b", "172.17.0.1");
  names.same("b", "127.0.0.1");
  names.settle();
  EXPECT_EQ(names.name_for("10.0.0.1"), "a");
  EXPECT_EQ(names.name_for("172.17.0.1"), "172.17.0.1");
  EXPECT_EQ(names.name_for("127.0.0.1"), "127.0.0.1");
  ASSERT_EQ(names.hosts().size(), 2U);
  EXPECT_EQ(names.hosts()[0].name, "a");
  EXPECT_EQ(names.hosts()[0].aliases, std::vector<std::string>{"10.0.0.1"});
  EXPECT_EQ(names.hosts()[1].name, "b");
}

TEST(HostNames, AnAddressOfOneMachineUnderTwoNamesIsIts) {
  HostNames names;
  names.same("pod-0", "node-7");
  names.same("pod-0", "10.0.0.7");
  names.same("10.0.0.7", "node-7");
  names.settle();
  EXPECT_EQ(names.name_for("10.0.0.7"), names.name_for("pod-0"));
  EXPECT_EQ(names.name_for("pod-0"), "node-7");
}

TEST(HostOfPath, IsTheInnermostKnownNameThatStandsByItself) {
  const std::set<std::string, std::less<>> known{"node1", "node10", "gpu-b0", "gpu-b07", "10.0.0.7"};
  EXPECT_EQ(host_in_path("incident/node10/dmesg.txt", known), "node10");
  EXPECT_EQ(host_in_path("incident/dmesg-gpu-b07.log", known), "gpu-b07");
  EXPECT_EQ(host_in_path("incident.tar!node1/kern.log", known), "node1");
  EXPECT_EQ(host_in_path("node1/copied-from-node10.log", known), "node10");
  EXPECT_EQ(host_in_path("10.0.0.7/nccl.log", known), "10.0.0.7");
  EXPECT_EQ(host_in_path("node11/dmesg.txt", known), "");
  EXPECT_EQ(host_in_path("my_node1/dmesg.txt", known), "");
  EXPECT_EQ(host_in_path("", known), "");
}

}  // namespace
}  // namespace unhang::join
