// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "formats/log/one_family_for_tests.h"
#include "formats/log/only_event_for_tests.h"

namespace unhang::formats::log {
namespace {

using model::Log;
using model::LogEvent;
using model::LogEventKind;

Log read(std::string_view text) {
  return read_with(fabric_manager_family(), text);
}

TEST(FabricManager, SwitchErrors) {
  const LogEvent fatal =
      only(read("[Jul 23 2026 07:53:55] [ERROR] [tid 841] detected NVSwitch fatal error 20034 on "
                "fid 0 on NVSwitch pci bus id 00000000:86:00.0 physical id 3 port 33\n"));
  EXPECT_EQ(fatal.kind, LogEventKind::kSxid);
  EXPECT_EQ(fatal.code, 20034);
  EXPECT_EQ(fatal.rank, 1);
  EXPECT_EQ(fatal.subject, "00000000:86:00.0");
  EXPECT_EQ(fatal.detail, "port 33");
  EXPECT_EQ(
      only(read("[ERROR] [tid 12727] detected NVSwitch non-fatal error 12028 on fid 0 on NVSwitch pci bus id "
                "00000000:86:00.0 physical id 3 port 61\n"))
          .rank,
      0);
}

TEST(FabricManager, ErrorsOfItsLogAndNothingElse) {
  const LogEvent event = only(read(
      "[Jul 23 2026 07:53:55] [INFO] [tid 1] Fabric Manager version 570.158.01 is running with the following "
      "configuration options\n"
      "[Jul 23 2026 07:53:56] [ERROR] [tid 1] detected number of NVSwitches don't match with any supported "
      "system topology, aborting fabric manager\n"));
  EXPECT_EQ(event.kind, LogEventKind::kFabricManagerError);
  EXPECT_EQ(event.subject, "nvidia-fabricmanager");
  EXPECT_EQ(event.detail,
            "detected number of NVSwitches don't match with any supported system topology, aborting fabric "
            "manager");
  EXPECT_EQ(only(read("[Oct 23 2026 10:00:00] [ERROR] [tid 39] Connection to node 2 with ip address 10.0.0.2 "
                      "failed\n"))
                .kind,
            LogEventKind::kFabricManagerError);
  EXPECT_TRUE(read("[ERROR] [tid 7] cannot open the data set\n").events.empty()) << "another program's log";
}

TEST(FabricManager, Ready) {
  EXPECT_EQ(
      only(read("nv-fabricmanager[1120]: Connected to 1 node.\nSuccessfully configured all the available "
                "NVSwitches to route GPU NVLink traffic.\n"))
          .kind,
      LogEventKind::kFabricManagerReady);
  EXPECT_EQ(
      only(read("systemd[1]: Started nvidia-fabricmanager.service - NVIDIA fabric manager service.\n")).kind,
      LogEventKind::kFabricManagerReady);
  EXPECT_TRUE(read("systemd[1]: Starting nvidia-fabricmanager.service - NVIDIA fabric manager service...\n")
                  .events.empty());
}

TEST(FabricManager, ServiceFails) {
  const Log log = read(
      "systemd[1]: Starting NVIDIA fabric manager service...\n"
      "systemd[1]: nvidia-fabricmanager.service: Main process exited, code=exited, status=1/FAILURE\n"
      "systemd[1]: nvidia-fabricmanager.service: Failed with result 'exit-code'.\n"
      "systemd[1]: Failed to start NVIDIA fabric manager service.\n");
  EXPECT_EQ(only(log).kind, LogEventKind::kFabricManagerError);
  EXPECT_EQ(only(log).subject, "nvidia-fabricmanager");
  EXPECT_EQ(only(log).count, 3u);
  EXPECT_EQ(only(log).line, 2u);
}

TEST(FabricManager, NoSwitchNoFault) {
  EXPECT_TRUE(
      read("Job for nvidia-fabricmanager.service failed because the control process exited with error code.\n"
           "nv-fabricmanager[4177]: request to query NVSwitch device information from NVSwitch driver failed "
           "with error:WARNING Nothing to do [NV_WARN_NOTHING_TO_DO]\n"
           "systemd[1]: nvidia-fabricmanager.service: Control process exited, code=exited, status=1/FAILURE\n"
           "systemd[1]: nvidia-fabricmanager.service: Failed with result 'exit-code'.\n")
          .events.empty());
}

TEST(FabricManager, StatusOfTheUnit) {
  const auto status = [](std::string_view active) {
    return read(
        "● nvidia-fabricmanager.service - NVIDIA fabric manager service\n"
        "     Loaded: loaded (/lib/systemd/system/nvidia-fabricmanager.service; enabled; vendor preset)\n"
        "     Active: " +
        std::string(active) + "\n   Main PID: 2939 (nv-fabricmanag)\n");
  };
  EXPECT_EQ(only(status("active (running) since Mon")).kind, LogEventKind::kFabricManagerReady);
  EXPECT_EQ(only(status("inactive (dead)")).kind, LogEventKind::kFabricManagerMissing);
  EXPECT_EQ(only(status("failed (Result: exit-code) since Mon")).kind, LogEventKind::kFabricManagerError);
}

TEST(FabricManager, OtherWaysToAsk) {
  EXPECT_EQ(only(read("$ systemctl is-active nvidia-fabricmanager\ninactive\n")).kind,
            LogEventKind::kFabricManagerMissing);
  EXPECT_EQ(only(read("Unit nvidia-fabricmanager.service could not be found.\n")).detail, "not installed");
  EXPECT_EQ(only(read("nvidia-fabricmanager.service: inactive\n")).kind, LogEventKind::kFabricManagerMissing);
  EXPECT_EQ(
      only(read("● nvidia-fabricmanager.service   loaded failed failed  NVIDIA fabric manager service\n"))
          .kind,
      LogEventKind::kFabricManagerError);
  EXPECT_TRUE(
      read("apt install nvidia-fabricmanager-570\nsystemctl enable nvidia-fabricmanager\nplease wait\n")
          .events.empty());
}

TEST(FabricManager, DriverOfAnotherVersion) {
  EXPECT_EQ(
      only(
          read(
              "nv-fabricmanager[2]: fabric manager NVIDIA GPU driver interface version 550.54.15 don't match "
              "with driver version 550.90.07. Please update with matching NVIDIA driver package.\n"))
          .detail,
      "driver version");
}

TEST(FabricManager, StateOfTheFabric) {
  EXPECT_EQ(only(read("Fabric State : In Progress\n")).kind, LogEventKind::kFabricManagerMissing);
  EXPECT_EQ(only(read("GPU 3 Fabric State: Completed\n")).kind, LogEventKind::kFabricManagerReady);
  EXPECT_TRUE(read("Fabric State : N/A\n").events.empty());
}

TEST(FabricManager, Imex) {
  EXPECT_EQ(only(read("nvidia-imex.service: Failed with result 'exit-code'.\n")).subject, "nvidia-imex");
  EXPECT_EQ(only(read("Domain State: DOWN\n")).detail, "DOWN");
  EXPECT_TRUE(read("Domain State: UP\nDomain State: California\n").events.empty());
}

}  // namespace
}  // namespace unhang::formats::log
