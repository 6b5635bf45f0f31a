// SPDX-License-Identifier: Apache-2.0
#include "collect/dump_places.h"

#include <gtest/gtest.h>

namespace unhang::collect {
namespace {

os::Process worker(std::int64_t pid, const std::string& mount,
                   std::vector<std::pair<std::string, std::string>> environment) {
  os::Process process;
  process.pid = pid;
  process.root = "/proc/" + std::to_string(pid) + "/root";
  process.mount_namespace = mount;
  process.environment = std::move(environment);
  process.environment_known = true;
  return process;
}

std::vector<std::string> shown(const std::vector<DumpPlace>& places) {
  std::vector<std::string> out;
  for (const DumpPlace& place : places) {
    std::string text = place.root + ":" + place.prefix;
    for (const std::size_t i : place.workers) text += " " + std::to_string(i);
    out.push_back(text);
  }
  return out;
}

TEST(DumpPlaces, ThePrefixInUseComesFirstAndAllDefaultsFollow) {
  const std::string fr = "/dumps/fr_", old = "/dumps/nccl_";
  EXPECT_EQ(dump_prefixes(&fr, &old, "/root", "/cache"),
            (std::vector<std::string>{"/dumps/fr_", "/dumps/nccl_", "/cache/torch/comm_lib_trace_rank_",
                                      "/root/.cache/torch/comm_lib_trace_rank_", "/tmp/nccl_trace_rank_",
                                      "/tmp/hccl_trace_rank_"}));
  EXPECT_EQ(dump_prefixes(nullptr, nullptr, "", ""),
            (std::vector<std::string>{"/tmp/nccl_trace_rank_", "/tmp/hccl_trace_rank_"}));
  const std::string usual = "/tmp/nccl_trace_rank_";
  EXPECT_EQ(dump_prefixes(&usual, &usual, "", "").size(), 2u);
}

TEST(DumpPlaces, WorkersOfOneFileSystemShareAPlace) {
  const auto places =
      dump_places({worker(1, "mnt:[1]", {}), worker(2, "mnt:[1]", {}), worker(3, "mnt:[2]", {})}, "");
  EXPECT_EQ(shown(places),
            (std::vector<std::string>{
                "/proc/1/root:/tmp/nccl_trace_rank_ 0 1", "/proc/1/root:/tmp/hccl_trace_rank_ 0 1",
                "/proc/3/root:/tmp/nccl_trace_rank_ 2", "/proc/3/root:/tmp/hccl_trace_rank_ 2"}));
}

TEST(DumpPlaces, OurOwnFileSystemIsLookedAtDirectly) {
  const auto places = dump_places({worker(1, "mnt:[1]", {{"TORCH_FR_DUMP_TEMP_FILE", "/d/r_"}})}, "mnt:[1]");
  EXPECT_EQ(shown(places).front(), ":/d/r_ 0");
}

TEST(DumpPlaces, AnUnknownFileSystemIsTheProcessesOwn) {
  const auto places = dump_places({worker(1, "", {}), worker(2, "", {})}, "");
  EXPECT_EQ(places.size(), 4u);
}

TEST(DumpPlaces, ARelativePrefixIsSeenFromWhereTheProcessWorks) {
  const auto places = dump_places({worker(1, "mnt:[1]", {{"TORCH_NCCL_DEBUG_INFO_TEMP_FILE", "dumps/r_"}}),
                                   worker(2, "mnt:[1]", {{"TORCH_NCCL_DEBUG_INFO_TEMP_FILE", "dumps/r_"}})},
                                  "mnt:[1]");
  EXPECT_EQ(shown(places)[0], "/proc/1/cwd:dumps/r_ 0");
  EXPECT_EQ(shown(places)[3], "/proc/2/cwd:dumps/r_ 1");
}

TEST(DumpPlaces, RanksInNames) {
  EXPECT_EQ(rank_of_name("nccl_trace_rank_12", "nccl_trace_rank_"), 12);
  EXPECT_EQ(rank_of_name("nccl_trace_rank_0.old", "nccl_trace_rank_"), 0);
  EXPECT_EQ(rank_of_name("7", ""), 7);
  for (const char* name : {"nccl_trace_rank_", "nccl_trace_rank_x", "nccl_trace_rank_1x",
                           "nccl_trace_rank_-1", "other_1", "nccl_trace_rank_99999999999999999999"})
    EXPECT_EQ(rank_of_name(name, "nccl_trace_rank_"), std::nullopt) << name;
}

}  // namespace
}  // namespace unhang::collect
