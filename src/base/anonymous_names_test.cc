// SPDX-License-Identifier: Apache-2.0
#include "base/anonymous_names.h"

#include <gtest/gtest.h>

namespace unhang::base {
namespace {

std::string host(std::string_view name) {
  return pseudonym(NameKind::kHost, "", name);
}
std::string addr(std::string_view name) {
  return pseudonym(NameKind::kAddress, "", name);
}
std::string user(std::string_view name) {
  return pseudonym(NameKind::kUser, "", name);
}
std::string domain(std::string_view name) {
  return pseudonym(NameKind::kDomain, "", name);
}

class AnonymousNamesTest : public testing::Test {
 protected:
  // Replaced once, and checked that a second time changes nothing.
  std::string replaced(std::string_view text) {
    std::string out = names.replace(text);
    EXPECT_EQ(names.replace(out), out);
    return out;
  }
  AnonymousNames names;
};

TEST_F(AnonymousNamesTest, KnownHostsAreWholeWords) {
  names.add_host("node3");
  names.add_host("gpu-b07-412");
  EXPECT_EQ(replaced("lost node3."), "lost " + host("node3") + ".");
  EXPECT_EQ(replaced("NODE3:12: x"), host("node3") + ":12: x");
  EXPECT_EQ(replaced("nccl_debug.node3.1234.log"), "nccl_debug." + host("node3") + ".1234.log");
  EXPECT_EQ(replaced("a_gpu-b07-412-rank0"), "a_" + host("gpu-b07-412") + "-rank0");
  EXPECT_EQ(replaced("node33x anode3"), "node33x anode3");
}

TEST_F(AnonymousNamesTest, ShortAndLongNamesFit) {
  names.add_host("node3.cluster.example");
  EXPECT_EQ(replaced("node3.cluster.example"), host("node3") + "." + domain("cluster.example"));
  EXPECT_EQ(replaced("node3"), host("node3"));
  EXPECT_EQ(replaced("login.cluster.example"), host("login") + "." + domain("cluster.example"));
  EXPECT_EQ(replaced("in cluster.example"), "in " + domain("cluster.example"));
}

TEST_F(AnonymousNamesTest, SiblingsAndNodeLists) {
  names.add_host("node3");
  EXPECT_EQ(replaced("node7 and node12"), host("node7") + " and " + host("node12"));
  EXPECT_EQ(replaced("on node[01-02,7]: x"),
            "on " + host("node01") + "," + host("node02") + "," + host("node7") + ": x");
  EXPECT_EQ(replaced("node[1-500]"), host("node[1-500]"));
  EXPECT_EQ(replaced("other[1-2] rank[0-3]"), "other[1-2] rank[0-3]");
  EXPECT_EQ(replaced("node[a]"), "node[a]");
}

TEST_F(AnonymousNamesTest, WhatIsNoHost) {
  for (const char* name :
       {"mlx5_0", "eth0", "bond0", "ib0", "nvme0n1", "GPU0", "cuda:0", "17", "localhost", "rank", "node",
        "worker", "master", "none", "127.0.0.1", "", "enp5s0f1", "rank3", "rocep1s0f0"})
    names.add_host(name);
  const std::string text =
      "mlx5_0 eth0 bond0 ib0 nvme0n1 GPU0 cuda:0 17 localhost rank node worker master none 127.0.0.1 GPU1 "
      "rank4 mlx5_bond_0";
  EXPECT_EQ(replaced(text), text);
}

TEST_F(AnonymousNamesTest, AddressesKeepTheirPorts) {
  EXPECT_EQ(replaced("peer 10.0.0.3<45678>"), "peer " + addr("10.0.0.3") + "<45678>");
  EXPECT_EQ(replaced("[::ffff:10.0.0.3]:29500"), "[" + addr("10.0.0.3") + "]:29500");
  EXPECT_EQ(replaced("fe80::5054:ff:fe12:3456%eth0<1>").substr(0, 5), "addr-");
  EXPECT_EQ(replaced("::1 0.0.0.0:8000 127.0.0.1"), "::1 0.0.0.0:8000 127.0.0.1");
  EXPECT_EQ(replaced("NCCL version 2.20.5.1+cuda12.4"), "NCCL version 2.20.5.1+cuda12.4");
}

TEST_F(AnonymousNamesTest, UsersOfHomesAndAddresses) {
  EXPECT_EQ(replaced("/home/alice/train.py"), "/home/" + user("alice") + "/train.py");
  EXPECT_EQ(replaced("/scratch/alice/run"), "/scratch/" + user("alice") + "/run");  // known by now
  EXPECT_EQ(replaced("/home/ubuntu/x.py"), "/home/ubuntu/x.py");
  EXPECT_EQ(replaced("alice@example.com"),
            user("alice") + "@" + host("example") + "." + pseudonym(NameKind::kDomain, "", "com"));
  EXPECT_EQ(replaced("torch@2.1 memcpy@GLIBC_2.14 f@plt"), "torch@2.1 memcpy@GLIBC_2.14 f@plt");
  EXPECT_EQ(replaced("USER=bob"), "USER=" + user("bob"));
}

TEST_F(AnonymousNamesTest, HostsThatTheTextNames) {
  EXPECT_EQ(replaced("connect to [head7]:29500 failed"), "connect to [" + host("head7") + "]:29500 failed");
  EXPECT_EQ(replaced("head7 is gone"), host("head7") + " is gone");
  EXPECT_EQ(replaced("MASTER_ADDR=trainer"), "MASTER_ADDR=" + host("trainer"));
  EXPECT_EQ(replaced("  host      : builder"), "  host      : " + host("builder"));
  EXPECT_EQ(replaced("failed on node n2: gone"), "failed on node " + host("n2") + ": gone");
  EXPECT_EQ(replaced("for nodes cn[7-8]"), "for nodes " + host("cn7") + "," + host("cn8"));
  EXPECT_EQ(replaced("node 3, node rank 4, host x86_64, node mlx5_0"),
            "node 3, node rank 4, host x86_64, node mlx5_0");
  EXPECT_EQ(replaced("docker://org/image then org"), "docker://" + host("org") + "/image then org");
  EXPECT_EQ(replaced("host: 192.168.xxx.xxx torch.distributed"), "host: 192.168.xxx.xxx torch.distributed");
  EXPECT_EQ(replaced("host: unreachable"), "host: unreachable");
  EXPECT_EQ(replaced("tcp://store9:1"), "tcp://" + host("store9") + ":1");
  EXPECT_EQ(replaced("https://pytorch.org/docs"), "https://pytorch.org/docs");
  EXPECT_EQ(replaced("ip-10-0-1-2.ec2.internal"), host("ip-10-0-1-2") + ".ec2.internal");
  EXPECT_EQ(replaced("[rank3]: x [default0]:2024-01-02"), "[rank3]: x [default0]:2024-01-02");
}

TEST_F(AnonymousNamesTest, TheEndOfACutText) {
  names.add_host("gpu-b07-412");
  EXPECT_EQ(names.replace_cut("lost gpu-b07-4…"), "lost …");
  EXPECT_EQ(names.replace_cut("lost 10.0.0…"), "lost …");
  EXPECT_EQ(names.replace_cut("lost gpu-b07-412…"), "lost " + host("gpu-b07-412") + "…");
  EXPECT_EQ(names.replace_cut("lost gpu-b"), "lost gpu-b");  // too short to have been cut
  EXPECT_EQ(names.replace_cut("they do not…"), "they do not…");
}

TEST_F(AnonymousNamesTest, HostsOfAddressesAreTaken) {
  names.add_host("head<45678>");
  names.add_host("[tail]:29500");
  names.add_host("10.0.0.3:1");
  EXPECT_EQ(replaced("head tail 10.0.0.3"), host("head") + " " + host("tail") + " " + addr("10.0.0.3"));
}

TEST_F(AnonymousNamesTest, LongTextsTakeLinearTime) {
  names.add_host("a.a.a");
  for (const char* part : {"a.", "1.", "[a", "@a", "::", "/home/", "host=", "a[1,", "node3-", "://", "--"}) {
    std::string text;
    while (text.size() < 400'000) text += part;
    EXPECT_FALSE(names.replace_cut(text).empty());
  }
}

}  // namespace
}  // namespace unhang::base
