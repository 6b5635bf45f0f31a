// SPDX-License-Identifier: Apache-2.0
#include "collect/sockets_source.h"

#include <nlohmann/json.hpp>

#include <gtest/gtest.h>

#include "collect/fake_programs_for_tests.h"
#include "collect/socket_table.h"

namespace unhang::collect {
namespace {

using Json = nlohmann::json;
using Status = model::SourceStatus;

TEST(SocketTable, Addresses) {
  EXPECT_EQ(address_of_hex("0700000A:A029"), "10.0.0.7:41001");
  EXPECT_EQ(address_of_hex("00000000000000000000000001000000:0050"), "[::1]:80");
  EXPECT_EQ(address_of_hex("00000000000000000000000000000000:0000"), "[::]:0");
  EXPECT_EQ(address_of_hex("000080FE00000000FF005450B6AD1DFE:0016"), "[fe80::5054:ff:fe1d:adb6]:22");
  EXPECT_EQ(address_of_hex("0000000000000000FFFF00000700000A:0016"), "10.0.0.7:22") << "IPv4 in IPv6";
  for (const char* wrong : {"", "0700000A", "0700000:A029", "0700000G:A029", "0700000A:1A029"})
    EXPECT_EQ(address_of_hex(wrong), "") << wrong;
}

constexpr const char* kTable =
    "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
    "   0: 0700000A:A029 0800000A:0050 01 00000010:00000020 01:00000019 00000003  1000        0 555 2 0 20 4 "
    "30 10 -1\n"
    "   1: 00000000:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 556 1 0 100 "
    "0\n"
    "   2: 0700000A:A02A 0800000A:0050 01 00000000:00000000 00:00000000 00000000     0        0 777 1 0 100 "
    "0\n"
    "   3: broken\n";

class SocketsSourceTest : public ::testing::Test, protected fixture::FakePrograms {
 protected:
  void process(std::int64_t pid) {
    os::Process one;
    one.pid = pid;
    x_search.processes.push_back(one);
    const std::string folder = "proc/" + std::to_string(pid);
    put(folder + "/net/tcp", kTable);
    std::filesystem::create_directories(x_folder / folder / "fd");
    std::filesystem::create_directories(x_folder / folder / "ns");
    std::filesystem::create_symlink("net:[1]", x_folder / folder / "ns/net");
  }
  void open(std::int64_t pid, const std::string& fd, const std::string& target) {
    std::filesystem::create_symlink(target, x_folder / ("proc/" + std::to_string(pid) + "/fd/" + fd));
  }
  SourceOutcome run() {
    x_search.proc = x_folder / "proc";
    x_search.host = "gpu-b07";
    return run_alone(sockets_source("sockets", x_search, x_names));
  }

  SocketSearch x_search;
};

TEST_F(SocketsSourceTest, OnlyThoseOfTheWorkersEachOnce) {
  process(412);
  process(413);
  open(412, "3", "socket:[555]");
  open(413, "3", "socket:[555]");
  open(413, "4", "socket:[556]");
  open(413, "5", "/dev/null");
  const auto outcome = run();
  EXPECT_EQ(outcome.status, Status::kAnswered) << outcome.reason;
  const Json got = Json::parse(content(x_bundle / x_files.at(0).path));
  EXPECT_EQ(got["schema"], "unhang.sockets/1");
  EXPECT_EQ(got["sockets"], Json::parse(R"([
    {"pids": [412, 413], "namespace": "net:[1]", "local": "10.0.0.7:41001", "remote": "10.0.0.8:80",
     "state": "ESTABLISHED", "send_queue": 16, "receive_queue": 32, "retransmits": 3},
    {"pids": [413], "namespace": "net:[1]", "local": "0.0.0.0:8080", "remote": "0.0.0.0:0", "state": "LISTEN",
     "send_queue": 0, "receive_queue": 0, "retransmits": 0}])"));
}

TEST_F(SocketsSourceTest, ProcessesThatHaveEnded) {
  process(412);
  std::filesystem::remove_all(x_folder / "proc");
  EXPECT_EQ(run().status, Status::kMissing);
  x_search.processes.clear();
  std::filesystem::remove_all(x_bundle);
  EXPECT_EQ(run().reason, "no worker was found");
}

TEST_F(SocketsSourceTest, BoundsTheOpenFiles) {
  process(412);
  open(412, "3", "socket:[555]");
  open(412, "4", "socket:[556]");
  x_search.max_descriptors = 1;
  const auto outcome = run();
  EXPECT_EQ(outcome.status, Status::kPartial);
  EXPECT_EQ(outcome.reason, "only the first 1 open files were looked at");
}

}  // namespace
}  // namespace unhang::collect
