// SPDX-License-Identifier: Apache-2.0
#include "collect/live_sources.h"

#include <algorithm>

namespace unhang::collect {
namespace {

base::Result<> add_names(std::string_view list, std::string_view flag, std::vector<std::string>& to) {
  const auto& all = live_sources();
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(','), list.size());
    const std::string name(list.substr(0, end));
    list.remove_prefix(std::min(end + 1, list.size()));
    if (name.empty()) continue;
    if (std::any_of(all.begin(), all.end(), [&](const LiveSource& source) { return source.name == name; })) {
      to.push_back(name);
      continue;
    }
    std::string known;
    for (const LiveSource& source : all) known += (known.empty() ? "" : ", ") + std::string(source.name);
    return base::fail(base::ErrorCode::kUsage,
                      std::string(flag) + ": there is no source '" + name + "'; there are " + known);
  }
  return {};
}

}  // namespace

const std::vector<LiveSource>& live_sources() {
  static const std::vector<LiveSource> all{
      {"ras", "NCCL's RAS service"},
      {"engine", "the engines that --engine names"},
      {"flight-recorder", "dumps of PyTorch's Flight Recorder"},
      {"stacks", "threads of the workers, and their stacks by py-spy and gdb"},
      {"kernel-log", "what the kernel said"},
      {"nccl-logs", "the files of NCCL_DEBUG_FILE"},
      {"gpu", "the driver, nvidia-smi, NVML"},
      {"nic", "counters of RDMA ports and network interfaces"},
      {"sockets", "TCP sockets of the workers"},
      {"system", "limits, cgroups, /dev/shm, clock"},
      {"scheduler", "Kubernetes and Slurm"}};
  return all;
}

bool SourceSelection::has(std::string_view name) const {
  const auto holds = [&](const std::vector<std::string>& list) {
    return std::find(list.begin(), list.end(), name) != list.end();
  };
  return (only.empty() || holds(only)) && !holds(without);
}

base::Result<SourceSelection> parse_selection(const std::vector<std::string>& only,
                                              const std::vector<std::string>& without) {
  SourceSelection selection;
  for (const std::string& list : only) {
    if (auto added = add_names(list, "--sources", selection.only); !added)
      return base::fail(std::move(added.error()));
  }
  for (const std::string& list : without) {
    if (auto added = add_names(list, "--without", selection.without); !added)
      return base::fail(std::move(added.error()));
  }
  return selection;
}

}  // namespace unhang::collect
