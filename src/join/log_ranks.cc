// SPDX-License-Identifier: Apache-2.0
#include "join/log_ranks.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

namespace unhang::join {
namespace {

using Process = std::pair<std::string, std::int64_t>;

bool is_default_group(const model::WatchdogTimeout& timeout) {
  if (!timeout.group_description.empty()) return timeout.group_description == "default_pg";
  if (!timeout.group.empty()) return timeout.group == "0";
  return timeout.group_id == "0";
}

// Of a process: the rank in the largest communicator. More than one where a process drives several GPUs; then
// the device decides.
class WorldRanks {
 public:
  WorldRanks(const model::Log& log, std::optional<std::int32_t> known_world) {
    std::int32_t world = 0;
    for (const auto& c : log.communicators) world = std::max(world, c.ranks);
    if (world <= 1 || (known_world && *known_world != world)) return;
    std::map<std::int32_t, std::set<std::pair<std::string, std::string>>> places;  // of each rank: host, GPU
    for (const auto& c : log.communicators) {
      if (c.ranks != world || c.rank < 0 || c.parent) continue;
      const model::LogOrigin& origin = log.origins[c.origin];
      if (origin.host.empty() || origin.pid < 0) continue;
      const Process process{origin.host, origin.pid};
      x_of_process[process].insert(c.rank);
      x_of_device[{process, c.cuda_device}].insert(c.rank);
      places[c.rank].emplace(origin.host, c.bus_id);
    }
    // Two replicas, and their ranks say nothing of the job. A restart comes back to the same GPU.
    const bool rivals =
        std::any_of(places.begin(), places.end(), [](auto& at) { return at.second.size() > 1; });
    if (!rivals) return;
    x_of_process.clear();
    x_of_device.clear();
  }

  std::int32_t find(const model::LogOrigin& origin) const {
    const Process process{origin.host, origin.pid};
    const auto ranks = x_of_process.find(process);
    if (ranks == x_of_process.end()) return -1;
    if (ranks->second.size() == 1) return *ranks->second.begin();
    const auto device = x_of_device.find({process, origin.cuda_device});
    return device != x_of_device.end() && device->second.size() == 1 ? *device->second.begin() : -1;
  }

 private:
  std::map<Process, std::set<std::int32_t>> x_of_process;
  std::map<std::pair<Process, std::int32_t>, std::set<std::int32_t>> x_of_device;
};

}  // namespace

void name_origins_by_file(std::string_view path, model::Log& log) {
  std::set<std::int64_t> pids;
  for (const model::LogOrigin& origin : log.origins) {
    if (origin.global_rank >= 0) return;
    if (origin.pid >= 0) pids.insert(origin.pid);
  }
  if (pids.size() > 1) return;
  // Of any number in a name only one that is called a rank is one: "app-2026.log" is none.
  const std::size_t slash = path.find_last_of("/!");
  std::string name(slash == std::string_view::npos ? path : path.substr(slash + 1));
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
  const std::size_t at = name.rfind("rank");
  if (at == std::string::npos) return;
  std::size_t digit = at + 4;
  while (digit < name.size() && (name[digit] == '_' || name[digit] == '-' || name[digit] == '.')) ++digit;
  std::int32_t rank = 0;
  std::size_t digits = 0;
  for (; digit < name.size() && name[digit] >= '0' && name[digit] <= '9' && digits < 7; ++digit, ++digits)
    rank = rank * 10 + (name[digit] - '0');
  if (digits == 0) return;
  for (model::LogOrigin& origin : log.origins) origin.global_rank = rank;
}

void give_ranks(model::Log& log, std::optional<std::int32_t> known_world) {
  const WorldRanks world(log, known_world);
  std::map<Process, std::int32_t> tagged;
  for (const model::LogOrigin& origin : log.origins) {
    if (origin.global_rank >= 0 && origin.pid >= 0) tagged[{origin.host, origin.pid}] = origin.global_rank;
  }
  for (model::LogOrigin& origin : log.origins) {
    if (origin.global_rank >= 0) continue;
    origin.global_rank = world.find(origin);
    if (origin.global_rank >= 0 || origin.pid < 0) continue;
    if (const auto it = tagged.find({origin.host, origin.pid}); it != tagged.end())
      origin.global_rank = it->second;
  }
  for (const model::WatchdogTimeout& timeout : log.timeouts) {
    model::LogOrigin& origin = log.origins[timeout.origin];
    // A writer that nothing tells apart from others may stand for many ranks.
    if (origin.global_rank < 0 && is_default_group(timeout) && origin.pid >= 0)
      origin.global_rank = timeout.group_rank;
  }
}

}  // namespace unhang::join
