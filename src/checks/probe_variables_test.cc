// SPDX-License-Identifier: Apache-2.0
#include "checks/probe_variables.h"

#include <filesystem>
#include <fstream>
#include <map>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

namespace unhang::checks {
namespace {

using Variables = std::map<std::string, std::string, std::less<>>;

LookUp in(const Variables& variables) {
  return [&variables](std::string_view name) -> const char* {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  };
}

Variables set_for(const Variables& own, std::optional<Release> torch = std::nullopt, bool calls = false) {
  Variables out;
  for (const auto& [name, value] : probe_variables(in(own), "/f", torch, calls).set) out[name] = value;
  return out;
}

TEST(ProbeVariables, OnlyWhatShows) {
  EXPECT_EQ(set_for({}), (Variables{{"NCCL_DEBUG", "INFO"},
                                    {"NCCL_DEBUG_FILE", "/f/nccl.%h.%p.log"},
                                    {"NCCL_DEBUG_SUBSYS", "INIT,BOOTSTRAP,ENV,NET,GRAPH,TUNING,RAS"},
                                    {"TORCH_FR_BUFFER_SIZE", "2000"},
                                    {"TORCH_FR_DUMP_TEMP_FILE", "/f/nccl_trace_rank_"},
                                    {"TORCH_NCCL_DEBUG_INFO_PIPE_FILE", "/f/pipes/rank_"},
                                    {"TORCH_NCCL_DEBUG_INFO_TEMP_FILE", "/f/nccl_trace_rank_"},
                                    {"TORCH_NCCL_DUMP_ON_TIMEOUT", "1"},
                                    {"TORCH_NCCL_TRACE_BUFFER_SIZE", "2000"}}));
  EXPECT_EQ(set_for({}, {}, true)["NCCL_DEBUG_SUBSYS"], "INIT,BOOTSTRAP,ENV,NET,GRAPH,TUNING,RAS,COLL");
}

TEST(ProbeVariables, AnOlderPyTorchGetsItsNamesOnly) {
  const Variables set = set_for({}, Release{2, 5, 1});
  EXPECT_FALSE(set.contains("TORCH_FR_BUFFER_SIZE"));
  EXPECT_FALSE(set.contains("TORCH_FR_DUMP_TEMP_FILE"));
  EXPECT_TRUE(set.contains("TORCH_NCCL_TRACE_BUFFER_SIZE"));
}

TEST(ProbeVariables, WhatIsSetIsKnownAsSuch) {
  for (const bool newer : {true, false}) {
    for (const auto& [name, value] : set_for({}, newer ? Release{2, 9, 0} : Release{2, 5, 1}, true))
      EXPECT_TRUE(is_probe_variable(name)) << name;
  }
  EXPECT_FALSE(is_probe_variable("NCCL_P2P_DISABLE"));
  EXPECT_FALSE(is_probe_variable(""));
}

TEST(ProbeVariables, WhatTheCallerSetStays) {
  const Variables own{{"NCCL_DEBUG", "trace"},
                      {"NCCL_DEBUG_SUBSYS", "NET"},
                      {"NCCL_DEBUG_FILE", "/x/%h.log"},
                      {"TORCH_FR_BUFFER_SIZE", "7"},
                      {"TORCH_NCCL_DUMP_ON_TIMEOUT", "0"}};
  const ProbeVariables made = probe_variables(in(own), "/f", std::nullopt, false);
  for (const auto& [name, value] : made.set) {
    EXPECT_FALSE(own.contains(name)) << name;
    EXPECT_NE(name, "TORCH_NCCL_TRACE_BUFFER_SIZE");
  }
  EXPECT_EQ(made.nccl_log, "/x/%h.log");
  EXPECT_EQ(made.notes.size(), 2u);
}

TEST(ProbeVariables, AWeakerLevelBecomesInfo) {
  for (const char* level : {"WARN", "VERSION", "nonsense", ""})
    EXPECT_EQ(set_for({{"NCCL_DEBUG", level}})["NCCL_DEBUG"], "INFO") << level;
  EXPECT_FALSE(set_for({{"NCCL_DEBUG", "INFO"}}).contains("NCCL_DEBUG"));
}

class Folder {
 public:
  Folder()
      : x_path(std::filesystem::temp_directory_path() / ("torch-install-" + std::to_string(::getpid()))) {}
  ~Folder() { std::filesystem::remove_all(x_path); }
  void write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories((x_path / name).parent_path());
    std::ofstream(x_path / name) << text;
    ::chmod((x_path / name).c_str(), 0755);
  }
  std::string operator/(const std::string& name) const { return (x_path / name).string(); }

 private:
  std::filesystem::path x_path;
};

std::string found(const std::vector<std::string>& command, const Variables& variables) {
  const auto torch =
      find_torch(command, in(variables), std::chrono::steady_clock::now() + std::chrono::seconds(10));
  return torch ? torch->release.text() : "none";
}

TEST(TorchInstall, StandsBesideThePythonOfTheCommand) {
  const Folder folder;
  folder.write("venv/bin/python3", "");
  folder.write("venv/lib/python3.11/site-packages/torch/version.py",
               "__all__ = []\n__version__ = '2.9.1+cu128'\n");
  folder.write("bin/torchrun", "#!" + (folder / "venv/bin/python3") + "\nimport sys\n");
  folder.write("bin/tool", "#!/bin/sh\n");
  folder.write("bin/python3", "");
  const Variables path{{"PATH", folder / "bin"}};
  EXPECT_EQ(found({folder / "venv/bin/python3", "train.py"}, path), "2.9.1");
  EXPECT_EQ(found({"torchrun", "--nproc-per-node", "2", "train.py"}, path), "2.9.1");
  EXPECT_EQ(found({"tool", "-x", "torchrun"}, path), "2.9.1");
  EXPECT_EQ(found({"tool", "train.py"}, path), "none");
  EXPECT_EQ(found({"tool"}, {{"PATH", folder / "bin"}, {"VIRTUAL_ENV", folder / "venv"}}), "2.9.1");
}

}  // namespace
}  // namespace unhang::checks
