// SPDX-License-Identifier: Apache-2.0
#include "base/anonymous_names.h"

#include <filesystem>
#include <fstream>
#include <utility>
#include <vector>

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

TEST_F(AnonymousNamesTest, UsersOfScratchSpaceAndTildes) {
  EXPECT_EQ(replaced("/scratch/carol/run1"), "/scratch/" + user("carol") + "/run1");
  EXPECT_EQ(replaced("/lustre/scratch/carol"), "/lustre/scratch/" + user("carol"));
  EXPECT_EQ(replaced("cd '/data/dave'"), "cd '/data/" + user("dave") + "'");
  EXPECT_EQ(replaced("in ~eve/run, ~eve"), "in ~" + user("eve") + "/run, ~" + user("eve"));
  EXPECT_EQ(replaced("/mnt/eve/x"), "/mnt/" + user("eve") + "/x");  // known by now
  for (const char* text :
       {"/data/models/llama", "/scratch/tmp/x", "/data/checkpoints_7/y", "torch/utils/data/dataloader/x",
        "/opt/torch/utils/data/_utils/x", "/data/train.bin", "/scratch/logs", "/workspace/datasets/c4",
        "~10 GB", "about ~half", "x::~vector()", "c10d::~Work", "~/run", "a~b", "~Foo()"})
    EXPECT_EQ(replaced(text), text);
}

TEST_F(AnonymousNamesTest, GuidsThatAreCalledSo) {
  const std::string guid = pseudonym(NameKind::kGuid, "", "08c0:eb03:00a1:b2c4");
  EXPECT_EQ(replaced("Node GUID: 0x08c0eb0300a1b2c4"), "Node GUID: " + guid);
  EXPECT_EQ(replaced("port_guid=\"0x8c0eb0300a1b2c4\""), "port_guid=\"" + guid + "\"");
  EXPECT_EQ(replaced("sys_image_guid:\t08C0EB0300A1B2C4"), "sys_image_guid:\t" + guid);
  EXPECT_EQ(replaced("node_guid: 08c0:eb03:00a1:b2c4"), "node_guid: " + guid);
  EXPECT_EQ(replaced("sys image 0x08c0eb0300a1b2c4"), "sys image " + guid);
  for (const char* text :
       {"comm 0x55d0c8a1b2c4d5e6 rank 0", "commId 0x8c0eb0300a1b2c4d", "commHash 08c0eb0300a1b2c4",
        "hash: 0x08c0eb0300a1b2c4", "GID index 3", "guid 0x0", "guid: none", "at 0x7f3a1b2c4d5e"})
    EXPECT_EQ(replaced(text), text);
}

TEST_F(AnonymousNamesTest, AddressesOfSocketTables) {
  EXPECT_EQ(names.replace("  0: 0A00000A:1F90 0B00000A:A1B2 01 x"),
            "  0: " + addr("10.0.0.10") + ":1F90 " + addr("10.0.0.11") + ":A1B2 01 x");
  EXPECT_EQ(names.replace("0000000000000000FFFF00000A00000A:1F90 00000000000000000000000000000000:0000 0A"),
            addr("10.0.0.10") + ":1F90 00000000000000000000000000000000:0000 0A");
  for (const char* text : {"0: 0100007F:1F90 00000000:0000 0A", "20241130:1530 x", "DEADBEEF:0001",
                           "12345678:1234 and 12345678:1234"})
    EXPECT_EQ(replaced(text), text);
}

TEST_F(AnonymousNamesTest, HostsInTheSpellingOfVariables) {
  names.add_host("gpu-node-08");
  EXPECT_EQ(replaced("GPU_NODE_08 GPU_NODE_09"), host("gpu-node-08") + " " + host("gpu-node-09"));
  names.add_host("dgx_rack_2");
  EXPECT_EQ(replaced("DGX-RACK-2"), host("dgx_rack_2"));
  EXPECT_EQ(replaced("GPU_NODE gpu_node_x"), "GPU_NODE gpu_node_x");
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

// What follows `word` in a line: "0x5c" of "commId 0x5c".
std::vector<std::string> values_behind(const std::string& line, std::string_view word) {
  std::vector<std::string> values;
  for (std::size_t at = line.find(word); at != std::string::npos; at = line.find(word, at + 1)) {
    const std::size_t from = at + word.size();
    values.push_back(line.substr(from, line.find_first_of(" ,", from) - from));
  }
  return values;
}

// Outputs are joined by the numbers of communicators, and by what is no name: over all logs of the corpus.
TEST_F(AnonymousNamesTest, NumbersOfCommunicatorsStayInEveryLog) {
  std::size_t seen = 0;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(UNHANG_SOURCE_DIR "/tests/corpus/logs")) {
    if (!entry.is_regular_file() || entry.path().extension() == ".json") continue;
    std::ifstream in(entry.path(), std::ios::binary);
    for (std::string line; std::getline(in, line);) {
      const std::string out = names.replace(line);
      for (const char* word : {"comm 0x", "commId 0x", "commHash ", "busId ", "nranks ", "cudaDev "}) {
        EXPECT_EQ(values_behind(out, word), values_behind(line, word)) << line;
        seen += values_behind(line, word).size();
      }
      EXPECT_EQ(values_behind(out, "uid: 0x").size() + values_behind(out, "uid 0x").size(), 0U) << out;
    }
  }
  EXPECT_GT(seen, 150U);
}

TEST_F(AnonymousNamesTest, TheEndOfACutText) {
  names.add_host("gpu-b07-412");
  EXPECT_EQ(names.replace_cut("lost gpu-b07-4…"), "lost …");
  EXPECT_EQ(names.replace_cut("lost 10.0.0…"), "lost …");
  EXPECT_EQ(names.replace_cut("lost gpu-b07-412…"), "lost " + host("gpu-b07-412") + "…");
  EXPECT_EQ(names.replace_cut("lost gpu-b"), "lost gpu-b");  // too short to have been cut
  EXPECT_EQ(names.replace_cut("they do not…"), "they do not…");
}

// A text of a log as it is kept: cut at 200 bytes.
std::string cut_at_200(const std::string& end) {
  return std::string(199 - end.size(), 'x') + " " + end;
}

TEST_F(AnonymousNamesTest, WhatIsLeftOfANameWhereATextWasCut) {
  for (const auto& [end, left] : std::vector<std::pair<std::string, std::string>>{
           {"localGid ::ffff:198.51.100.", "localGid …"},
           {"localGid ::ffff:198.51.100.1", "localGid …"},
           {"remoteGids::ffff:1", "remoteGids…"},
           {"remoteGidsfe80::ba59:9", "remoteGids…"},
           {"peer 10", "peer …"},
           {"peer 10.0.0.3<4", "peer " + addr("10.0.0.3") + "<…"},
           {"node_guid: 0x08c0eb03", "node_guid: …"},
           {"mac 08:c0:eb", "mac …"},
           {"on GPU-1a2b3c4d-12", "on …"},
           {"mail to alice@exam", "mail to …"},
           {"lost trainer.prod.ac", "lost …"},
           {"lost ip-10-1", "lost …"},
           {"it did not add", "it did not add"},
           {"the process is gone.", "the process is gone."}}) {
    const std::string text = cut_at_200(end), begin = text.substr(0, 200 - end.size());
    EXPECT_EQ(text.size(), 200U);
    AnonymousNames first, second;
    first.remember_cut(text);
    EXPECT_EQ(first.replace_cut(text), begin + left);
    EXPECT_EQ(first.replace_cut("says '" + text + "' (x 38)"), "says '" + begin + left + "' (x 38)");
    second.remember_cut(end);  // too short to have been cut
    EXPECT_EQ(second.replace_cut("says " + end + " 10 times"), second.replace("says " + end + " 10 times"));
  }
}

TEST_F(AnonymousNamesTest, NumbersAtTheEndOfOtherLongTextsStay) {
  names.remember_cut(cut_at_200("peer 10"));
  const std::string text = std::string(199, 'y') + " took 10";
  EXPECT_EQ(names.replace_cut(text), text);
  EXPECT_EQ(names.replace_cut("ranks 0-3, 8, 10…"), "ranks 0-3, 8, 10…");
  EXPECT_EQ(names.replace_cut("from fe80::5054:ff… to ::ffff:198.5…"), "from … to …");
}

TEST_F(AnonymousNamesTest, AnAddressGluedToItsLabel) {
  EXPECT_EQ(replaced("localGid fe80::e42:a1ff:fe6b:1 remoteGidsfe80::e42:a1ff:fe6b:2 hca mlx5_0"),
            "localGid " + names.replace("fe80::e42:a1ff:fe6b:1") + " remoteGids" +
                names.replace("fe80::e42:a1ff:fe6b:2") + " hca mlx5_0");
  EXPECT_EQ(replaced("remoteGids::ffff:198.51.100.13 hca"),
            "remoteGids::ffff:" + addr("198.51.100.13") + " hca");
  EXPECT_EQ(replaced("remoteGids: none"), "remoteGids: none");
}

TEST_F(AnonymousNamesTest, HostsOfAddressesAreTaken) {
  names.add_host("head<45678>");
  names.add_host("[tail]:29500");
  names.add_host("10.0.0.3:1");
  EXPECT_EQ(replaced("head tail 10.0.0.3"), host("head") + " " + host("tail") + " " + addr("10.0.0.3"));
}

TEST_F(AnonymousNamesTest, LongTextsTakeLinearTime) {
  names.add_host("a.a.a");
  for (const char* part :
       {"a.",     "1.",   "[a",   "@a",   "::",     "/home/",     "host=",    "a[1,",
        "node3-", "://",  "--",   "~a",   "/data/", "/scratch/a", "guid 0x1", "0A00000A:1F90 ",
        "a_",     "1.2…", "a.b…", "Gids", "Gids1:"}) {
    std::string text;
    while (text.size() < 400'000) text += part;
    names.remember_cut(text + "peer 10.0");
    EXPECT_FALSE(names.replace_cut(text).empty());
  }
}

}  // namespace
}  // namespace unhang::base
