// SPDX-License-Identifier: Apache-2.0
#include "cli/log_writers.h"

#include <set>

#include "join/log_ranks.h"
#include "join/logs.h"

namespace unhang::cli {
namespace {

constexpr std::int32_t kAnyDevice = INT32_MIN;
constexpr std::int32_t kSeveral = -2;  // ranks: no answer

template <typename Key>
void note(std::map<Key, std::int32_t>& ranks, const Key& key, std::int32_t rank) {
  const auto [it, is_new] = ranks.emplace(key, rank);
  if (!is_new && it->second != rank) it->second = kSeveral;
}

}  // namespace

LogWriters::LogWriters(std::vector<model::Log> logs, const std::vector<std::string>& paths) {
  std::vector<std::vector<model::LogOrigin>> origins;
  std::vector<model::Input> inputs;
  join::LogJoin join;
  for (std::size_t i = 0; i < logs.size(); ++i) {
    join::name_origins_by_file(paths[i], logs[i]);
    origins.push_back(logs[i].origins);
    inputs.emplace_back();
    inputs.back().path = paths[i];
    join.add(std::move(logs[i]), static_cast<model::InputIndex>(i));
  }
  const model::Log joined = join.finish(inputs, {});
  std::map<std::int32_t, std::set<std::string>> hosts;
  for (const model::LogOrigin& origin : joined.origins) {
    if (origin.global_rank < 0) continue;
    if (!origin.host.empty()) hosts[origin.global_rank].insert(origin.host);
    if (origin.pid < 0) continue;
    note(x_ranks, {origin.host, origin.pid, kAnyDevice}, origin.global_rank);
    note(x_ranks, {origin.host, origin.pid, origin.cuda_device}, origin.global_rank);
  }
  for (const auto& [rank, names] : hosts) {
    if (names.size() == 1) x_hosts.emplace(rank, *names.begin());
  }
  std::vector<LogWriter> files;
  for (std::size_t i = 0; i < origins.size(); ++i) {
    std::set<std::string> names;
    std::set<std::int64_t> pids;
    std::set<std::int32_t> ranks;
    for (const model::LogOrigin& origin : origins[i]) {
      const std::int32_t rank = of(i, origin).rank;
      if (rank >= 0) ranks.insert(rank);
      if (origin.pid >= 0) pids.insert(origin.pid);
      if (!origin.host.empty()) names.insert(origin.host);
    }
    LogWriter only;
    if (names.size() == 1) only.host = *names.begin();
    if (ranks.size() == 1 && pids.size() <= 1) only.rank = *ranks.begin();
    files.push_back(std::move(only));
  }
  x_files = std::move(files);
}

LogWriter LogWriters::of(std::size_t file, const model::LogOrigin& origin) const {
  LogWriter writer{origin.host, origin.global_rank};
  if (writer.rank < 0 && origin.pid >= 0) {
    auto it = x_ranks.find({origin.host, origin.pid, kAnyDevice});
    if (it != x_ranks.end() && it->second == kSeveral)
      it = x_ranks.find({origin.host, origin.pid, origin.cuda_device});
    if (it != x_ranks.end()) writer.rank = it->second < 0 ? -1 : it->second;
  }
  if (file < x_files.size()) {
    if (writer.rank < 0) writer.rank = x_files[file].rank;
    if (writer.host.empty()) writer.host = x_files[file].host;
  }
  if (writer.host.empty() && writer.rank >= 0) {
    if (const auto it = x_hosts.find(writer.rank); it != x_hosts.end()) writer.host = it->second;
  }
  return writer;
}

}  // namespace unhang::cli
