// SPDX-License-Identifier: Apache-2.0
#include "collect/live_capture.h"

#include <gtest/gtest.h>

#include "collect/capture_clocks_for_tests.h"

namespace unhang::collect {
namespace {

using namespace std::string_literals;
using Status = model::SourceStatus;

// Port 1 (tcpmux) of the loopback addresses: nobody listens there.
class LiveCaptureTest : public ::testing::Test, protected fixture::BundleFolder {
 protected:
  LiveCaptureTest() {
    x_request.folder = x_bundle;
    x_request.proc = x_folder / "proc";
    x_request.environment = {{"HOME", x_folder / "home"}};
    x_request.selection.only = {"ras", "engine", "flight-recorder"};
    put("proc/stat", "btime 1764400000\n");
  }
  void worker(const std::string& pid, const std::string& ras_address) {
    put("proc/" + pid + "/stat", pid + " (python3) S 1 1 1 0 -1 0 1 2 3 4 5 6 7 8 20 0 1 0 100 1000 1 2\n");
    put("proc/" + pid + "/status", "Uid:\t0\t0\t0\t0\nVmSize:\t1 kB\n");
    put("proc/" + pid + "/cmdline", "python3\0"s);
    put("proc/" + pid + "/environ", "RANK=" + pid + "\0NCCL_RAS_ADDR="s + ras_address + "\0"s);
    put("proc/" + pid + "/maps", "7f0-7f1 r-xp 00000000 08:01 12 /x/libnccl.so.2.28.9\n");
  }
  // "id status asked" of each source.
  std::vector<std::string> sources() {
    const auto result = capture_live(x_request);
    EXPECT_TRUE(result);
    std::vector<std::string> out;
    for (const auto& source : result->manifest.sources)
      out.push_back(source.id + " " + std::string(model::name_of(source.status)) + " " + source.asked);
    return out;
  }

  LiveCaptureRequest x_request;
};

TEST_F(LiveCaptureTest, RasIsAskedWhereTheWorkersSayButOnlyOnThisMachine) {
  worker("3", "127.0.0.1:1");
  worker("4", "127.0.0.1:1");
  worker("5", "192.0.2.7:28028");    // of nobody
  worker("6", "somewhere.invalid");  // a name: not even resolved
  x_request.dumps = false;
  EXPECT_EQ(sources(), (std::vector<std::string>{"ras-1 refused 127.0.0.1:1", "ras-2 failed 192.0.2.7:28028",
                                                 "ras-3 failed somewhere.invalid:28028",
                                                 "processes answered " + x_request.proc}));
}

TEST_F(LiveCaptureTest, WhatThePersonSaysGoesBeforeWhatWorkersSay) {
  worker("3", "127.0.0.1:2");
  x_request.dumps = false;
  x_request.ras_addresses = {"127.0.0.1:1,[::1]:1"};
  const auto list = sources();
  ASSERT_EQ(list.size(), 3u);
  EXPECT_EQ(list[0], "ras-1 refused 127.0.0.1:1");
  EXPECT_TRUE(list[1].ends_with(" [::1]:1")) << list[1];
}

TEST_F(LiveCaptureTest, DumpsOfOurOwnPrefixAndFactsOfTheCall) {
  put("dumps/r_0", "0.");
  x_request.ras = false;
  x_request.environment.emplace_back("TORCH_FR_DUMP_TEMP_FILE", x_folder / "dumps/r_");
  x_request.instance = "i-7f2";
  x_request.deployment = "v41";
  x_request.labels = {{"b", "2"}, {"a", "1"}};
  x_request.tool_version = "1.2.3";
  const auto result = capture_live(x_request);
  ASSERT_TRUE(result);
  EXPECT_TRUE(result->anything);
  const auto manifest = manifest_on_disk();
  EXPECT_EQ(manifest, result->manifest);
  EXPECT_EQ(manifest.instance, "i-7f2");
  EXPECT_EQ(manifest.deployment, "v41");
  EXPECT_EQ(manifest.tool_version, "1.2.3");
  EXPECT_EQ(manifest.budget_ms, 25'000);
  EXPECT_EQ(manifest.labels, (std::vector<std::pair<std::string, std::string>>{{"a", "1"}, {"b", "2"}}));
  ASSERT_EQ(manifest.sources.size(), 2u);
  ASSERT_EQ(manifest.sources[0].files.size(), 1u);
  EXPECT_EQ(manifest.sources[0].files[0].original_path, x_folder / "dumps/r_0");
}

TEST_F(LiveCaptureTest, WhatAnyMachineTellsIsNothingOfAJob) {
  put("sys/class/net/eth0/statistics/rx_bytes", "1\n");
  x_request.ras = false;
  x_request.sys = x_folder / "sys";
  x_request.samples = 1;
  x_request.selection.only = {"flight-recorder", "nic"};
  auto result = capture_live(x_request);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->manifest.sources[1].files.size(), 1u);
  EXPECT_FALSE(result->anything);
  std::filesystem::remove_all(x_bundle);
  x_request.selection.only = {"nic"};
  result = capture_live(x_request);
  ASSERT_TRUE(result);
  EXPECT_TRUE(result->anything) << "it was asked for nothing else";
}

TEST_F(LiveCaptureTest, SourcesAreChosenByName) {
  x_request.sys = x_folder / "sys";
  x_request.dev = x_folder / "dev";
  x_request.account = x_folder / "account";
  const auto ids = [&] {
    const auto result = capture_live(x_request);
    EXPECT_TRUE(result);
    std::filesystem::remove_all(x_bundle);
    std::string text;
    for (const auto& source : result->manifest.sources) text += source.id + " ";
    return text;
  };
  x_request.samples = 1;
  x_request.selection = *parse_selection({}, {"ras,gpu"});
  EXPECT_EQ(ids(), "flight-recorder stacks kernel-log nccl-logs nic sockets system scheduler processes ");
  x_request.selection = *parse_selection({"gpu,nic", "kernel-log"}, {"nic"});
  EXPECT_EQ(ids(), "kernel-log gpu processes ");
  EXPECT_EQ(parse_selection({"disk"}, {}).error().code, base::ErrorCode::kUsage);
}

TEST_F(LiveCaptureTest, WrongAddressesAreToldBeforeAnythingIsWritten) {
  x_request.ras_addresses = {"h:99999"};
  EXPECT_EQ(capture_live(x_request).error().code, base::ErrorCode::kUsage);
  x_request.ras = false;
  x_request.engines = {"ftp://x"};
  EXPECT_EQ(capture_live(x_request).error().code, base::ErrorCode::kUsage);
  EXPECT_FALSE(std::filesystem::exists(x_bundle));
}

}  // namespace
}  // namespace unhang::collect
