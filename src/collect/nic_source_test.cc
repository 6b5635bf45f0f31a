// SPDX-License-Identifier: Apache-2.0
#include "collect/nic_source.h"

#include <nlohmann/json.hpp>

#include <gtest/gtest.h>

#include "collect/fake_programs_for_tests.h"

namespace unhang::collect {
namespace {

using namespace std::chrono_literals;
using Json = nlohmann::json;
using Status = model::SourceStatus;

class NicSourceTest : public ::testing::Test, protected fixture::FakePrograms {
 protected:
  SourceOutcome run(int samples = 3, std::chrono::nanoseconds budget = 25s) {
    return run_alone(nic_source("nic", {x_folder / "sys", "gpu-b07"}, {samples, 4s}, x_names), budget);
  }
  Json document(std::size_t i) const { return Json::parse(content(x_bundle / x_files.at(i).path)); }
  void port() {
    const std::string folder = "sys/class/infiniband/mlx5_0/ports/1/";
    put(folder + "state", "4: ACTIVE\n");
    put(folder + "phys_state", "5: LinkUp\n");
    put(folder + "rate", "400 Gb/sec (4X NDR)\n");
    put(folder + "counters/port_rcv_data", "18446744073709551615\n");
    put(folder + "counters/link_downed", "1\n");
    put(folder + "hw_counters/out_of_sequence", "7\n");
  }
};

TEST_F(NicSourceTest, TwoLooksAtPortsAndInterfaces) {
  port();
  put("sys/class/net/eth0/operstate", "up\n");
  put("sys/class/net/eth0/statistics/rx_bytes", "123\n");
  put("sys/class/net/bonding_masters", "\n");
  const auto outcome = run();
  EXPECT_EQ(outcome.status, Status::kAnswered) << outcome.reason;
  ASSERT_EQ(x_files.size(), 2u);
  EXPECT_EQ(x_files[1].captured_ns - x_files[0].captured_ns, 8'000'000'000)
      << "as far apart as the answers of RAS";
  const Json first = document(0);
  EXPECT_EQ(first["schema"], "unhang.nic_counters/1");
  EXPECT_EQ(first["host"], "gpu-b07");
  EXPECT_EQ(first["taken"], "2026-11-29T15:01:29.000000000Z");
  EXPECT_EQ(first["ports"], Json::parse(R"x([{"device": "mlx5_0", "port": "1", "state": "4: ACTIVE",
    "phys_state": "5: LinkUp", "rate": "400 Gb/sec (4X NDR)",
    "counters": {"link_downed": 1, "port_rcv_data": "18446744073709551615"},
    "hw_counters": {
    "out_of_sequence" : 7}
}])x"));
  EXPECT_EQ(first["interfaces"],
            Json::parse(R"x([{"name": "eth0", "operstate": "up", "statistics": {"rx_bytes": 123}}])x"));
}

TEST_F(NicSourceTest, OneLookIsKeptWhereThereIsNoTimeForTwo) {
  port();
  const auto outcome = run(3, 5s);
  EXPECT_EQ(outcome.status, Status::kPartial);
  EXPECT_EQ(outcome.reason, "looked at once: no time was left for a second look");
  EXPECT_EQ(x_files.size(), 1u);
}

TEST_F(NicSourceTest, AskedOnceItIsLookedAtOnce) {
  port();
  EXPECT_EQ(run(1).status, Status::kAnswered);
  EXPECT_EQ(x_files.size(), 1u);
}

TEST_F(NicSourceTest, WithoutDevices) {
  const auto outcome = run();
  EXPECT_EQ(outcome.status, Status::kMissing);
  EXPECT_EQ(outcome.reason, "no network devices in " + (x_folder / "sys").string());
}

}  // namespace
}  // namespace unhang::collect
